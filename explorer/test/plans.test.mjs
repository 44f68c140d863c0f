// Worths, limits and planned service, as a person uses them; and the page's plans are those of the command.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, afterEach, before, beforeEach, describe, test} from 'node:test';
import {look, violations} from './look.mjs';
import {
  addressOf, allot, allotGenerate, allotOrInfeasible, assertClose, example, hashOf, launch, newTab, open, root, scenarioInAddress, scratch, settled, valueOf,
} from './support.mjs';

// Linear programs, which the page solves by another method than the command.
const kPlans = 1e-6;

let browser;
let tab;
let page;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});
beforeEach(async () => {
  tab = await newTab(browser);
  page = tab.page;
});
afterEach(async () => {
  await tab.context.close();
  assert.deepEqual(tab.complaints, [], 'no errors on the console, no requests');
});

const scenarioText = async () => JSON.stringify(await scenarioInAddress(page));
const preset = async (id) => {
  await page.selectOption('#preset', id);
  await settled(page);
};
const aimFor = (objective) => page.check(`input[name=objective][value=${objective}]`);
const allFields = () => page.check('.check:has-text("all fields") input');
const objectiveValue = () => valueOf(page, '#verdict', 'data-objective');
const planHash = (scenario, objective = 'throughput') => hashOf(scenario).replace('&', `&service=planned&objective=${objective}&`);

describe('plans are those of the command', () => {
  const solved = (name) => JSON.parse(readFileSync(join(root, 'tests/cases', `${name}.json`), 'utf8')).scenario;
  const asJson = async (name) => {
    await page.setInputFiles('#file', {name: 'example.toml', mimeType: 'application/toml', buffer: Buffer.from(example(name))});
    await page.waitForFunction((wanted) => document.querySelector('.title .name').value === wanted, name.match(/(\w+)\.toml/)[1]);
    return scenarioText();
  };

  for (const name of ['mixed-3x3-00', 'mixed-3x3-03', 'paper-2gp2sa-01']) {
    test(`every objective: ${name}`, async () => {
      const plain = solved(name);
      const scenario = JSON.stringify({
        ...plain, tasks: plain.tasks.map((task, i) => ({...task, worth: [1, 3.5, 0.25, 2][i % 4], priority: [1, 2, 0.5, 4][i % 4]})),
      });
      for (const objective of ['throughput', 'priority', 'max-min', 'proportional', 'energy']) {
        await page.goto('about:blank');
        await open(tab, planHash(scenario, objective));
        const expected = allot('solve', scenario, '--service', 'planned', '--objective', objective);
        assert.ok(await page.isChecked(`input[name=objective][value=${objective}]`));
        const close = objective === 'proportional' ? 1e-5 : kPlans;
        assertClose(await objectiveValue(), expected.objective_value, close, `what is optimised, ${objective}`);
        if (objective === 'throughput') assertClose(await valueOf(page, '#value'), expected.value, kPlans, 'value');
        assert.match(await page.textContent('#verdict'), /Proven optimal/);
        for (const {name: resource, amount} of expected.capacity_use)
          assert.ok((await valueOf(page, `#capacities tr[data-name="${resource}"]`, 'data-used')) <= amount * (1 + 1e-9), 'no more is used than there is');
      }
    });
  }

  test('stages, loads, limits and powers', async () => {
    await open(tab);
    for (const name of ['stages', 'load', 'latency', 'power', 'worth', 'needs']) {
      const scenario = await asJson(`plans/${name}.toml`);
      if (['latency', 'worth', 'needs'].includes(name)) await page.check('input[name=service][value=planned]');
      else await page.check('input[name=objective][value=throughput]');
      const expected = allot('solve', scenario, '--service', 'planned', '--explain');
      assertClose(await objectiveValue(), expected.objective_value, kPlans, name);
      for (const [i, task] of expected.tasks.entries())
        assertClose(await valueOf(page, `#by-type tr[data-name="${task}"]`, 'data-throughput'), expected.throughput_by_task[i], kPlans, `${task} of ${name}`);
      for (const {name: resource, price} of expected.capacity_use)
        assertClose(await valueOf(page, `#capacities tr[data-name="${resource}"]`, 'data-price'), price, kPlans, `price of ${resource}, ${name}`);
      for (const [k, rounds] of (expected.rounds ?? []).entries())
        assertClose(await valueOf(page, `#rounds tbody tr >> nth=${k}`, 'data-rounds'), rounds, kPlans, 'rounds');
      if (expected.headroom !== undefined) assertClose(await valueOf(page, '#headroom'), expected.headroom, kPlans, 'headroom');
      for (const {limit, gain_if_relaxed} of expected.limits ?? [])
        assertClose(await valueOf(page, `#limits li[data-limit="${limit}"]`, 'data-gain'), gain_if_relaxed, kPlans, limit);
      assert.equal(await page.locator('#limits li').count(), (expected.limits ?? []).length);
      await page.check('input[name=service][value=even]', {force: true}).catch(() => {});
    }
  });
});

describe('worth', () => {
  test('is typed, counts in the answer of even sharing, and is proven', async () => {
    await open(tab);
    await page.selectOption('#preset', 'workstation');
    await allFields();
    await page.fill('[id="tasks.2.worth"]', '10');
    await settled(page);
    const expected = allot('certify', await scenarioText());
    await page.waitForFunction((value) => Math.abs(Number(document.querySelector('#value').dataset.value) / value - 1) < 1e-9, expected.value);
    assertClose(await valueOf(page, '#verdict', 'data-bound'), expected.upper_bound, 1e-9, 'bound');
    assert.match(await page.textContent('#verdict'), /Proven optimal: no assignment has more than [\d,.]+ of value per second/);
    assertClose(await valueOf(page, '#beside tr[data-key=best-fit]'), allot('solve', await scenarioText(), '--solver', 'best-fit').value, 1e-12, 'Best Fit');
    assert.match(await page.textContent('.headline'), /of value per second, .*tasks\/s/);
    await page.uncheck('.check:has-text("all fields") input');
    assert.ok(await page.isVisible('[id="tasks.0.worth"]'), 'what a type has stays in sight');
    assert.equal(await page.locator('[id="tasks.0.floor"]').count(), 0);
    await page.fill('[id="tasks.2.worth"]', '-1');
    assert.match(await page.textContent('[id="mark-tasks.2.worth"]'), /-1/);
  });

  test('of a move is in value', async () => {
    await open(tab, hashOf(JSON.stringify({
      resources: [{name: 'a'}, {name: 'b'}], tasks: [{name: 't', count: 3, worth: 7, rates: {a: 2, b: 1}}, {name: 'u', count: 1, rates: {a: 1, b: 1}}],
    })));
    const [placement] = allot('solve', await scenarioText(), '--solver', 'map', '--explain').explanation;
    await page.click(`[aria-label^="${placement.task} on ${placement.resource}:"]`);
    const [, said] = (await page.textContent('#why li')).match(/would \w+ ([\d.]+) of value per second/);
    assertClose(Number(said), Math.abs(placement.alternatives[0].gain), 0.01, 'gain');
  });
});

describe('the switch', () => {
  test('says what each service means, and the answer follows', async () => {
    await open(tab);
    await preset('workstation');
    const even = await valueOf(page, '#throughput');
    assert.match(await page.textContent('#aim'), /shares itself evenly/);
    await page.check('input[name=service][value=planned]');
    assert.match(await page.textContent('#aim'), /which task each free server takes next/);
    const planned = await valueOf(page, '#throughput');
    assert.ok(planned > even);
    assert.match(await page.textContent('#verdict'), /no policy, however clever, completes more/);
    await page.waitForSelector('#beside tr[data-key=even]');
    assertClose(await valueOf(page, '#beside tr[data-key=even]'), allot('certify', await scenarioText()).value, 1e-9, 'even sharing beside it');
    await page.check('input[name=service][value=even]');
    assert.equal(await valueOf(page, '#throughput'), even);
  });

  test('by keyboard', async () => {
    await open(tab);
    await page.focus('input[name=service][value=even]');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('input[name=objective][value=throughput]:checked');
    await page.focus('input[name=objective][value=throughput]');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('input[name=objective][value=priority]:checked');
  });

  test('is not offered where only plans can answer, and is where they no longer need to', async () => {
    await open(tab);
    await preset('power');
    assert.ok(await page.isDisabled('input[name=service][value=even]'));
    assert.match(await page.textContent('#aim'), /there is a power_cap/);
    await page.fill('[id="power_cap"]', '');
    await settled(page);
    assert.ok(await page.isEnabled('input[name=service][value=even]'));
    await page.check('input[name=service][value=even]');
    await page.waitForSelector('#assignment b:has-text("8")');
  });

  test('energy keeps the part that was asked for; nonsense is refused', async () => {
    await open(tab);
    await preset('workstation');
    await page.check('input[name=service][value=planned]');
    const most = await valueOf(page, '#throughput');
    await aimFor('energy');
    assertClose(await valueOf(page, '#throughput'), 0.9 * most, kPlans, 'value kept');
    await page.fill('#keep', '50');
    assertClose(await valueOf(page, '#throughput'), 0.5 * most, kPlans, 'value kept');
    const expected = allot('solve', await scenarioText(), '--objective', 'energy', '--keep', '0.5');
    assertClose(await objectiveValue(), expected.mean_power, kPlans, 'mean power');
    assert.match(await page.textContent('#capacities'), /one more saves/);
    for (const [typed, said] of [['150', /keep: must be from 0 to 1/], ['much', /keep: must be a number/], ['', /keep/]]) {
      await page.fill('#keep', typed);
      assert.match(await page.textContent('#problem'), said);
    }
    await page.fill('#keep', '100');
    assert.equal(await page.locator('#problem').count(), 0);
    assertClose(await valueOf(page, '#throughput'), most, kPlans, 'all of the value');
  });
});

describe('limits', () => {
  test('that bind, with what they cost', async () => {
    await open(tab);
    await preset('latency');
    assert.match(await page.textContent('#limits'), /The max_response of 'search' \(50 ms\) binds: relaxed by 10%, it adds 33.86 tasks\/s/);
    await page.fill('[id="tasks.0.max_response"]', '5');
    await page.fill('[id="tasks.1.max_response"]', '');
    assert.match(await page.textContent('#limits'), /No limit restricts the plan/);
    await page.fill('[id="tasks.1.max_response"]', '50ms');
    assert.match(await page.textContent('#limits'), /binds/);
    assert.match(await page.textContent('#by-type tr[data-name=search]'), /50 ms/);
  });

  test('a field does not vanish while another number is typed into it', async () => {
    await open(tab);
    await preset('worth');
    await page.fill('[id="tasks.1.worth"]', '');
    await page.type('[id="tasks.1.worth"]', '12');
    assert.equal((await scenarioInAddress(page)).tasks[1].worth, 12);
    await preset('paper');
    assert.equal(await page.locator('[id="tasks.1.worth"]').count(), 0);
  });

  test('that cannot be met together are named, the others not', async () => {
    await open(tab, hashOf(JSON.stringify({
      power_cap: 130,
      resources: [{name: 'cpu', servers: 8, power: 11, idle_power: 1.5}, {name: 'gpu', power: 180, idle_power: 18}],
      tasks: [
        {name: 'resize', count: 16, floor: 20, rates: {cpu: 45, gpu: 480}},
        {name: 'search', count: 6, max_response: 0.05, rates: {cpu: 14, gpu: 120}},
      ],
    })));
    const expected = allotOrInfeasible('solve', await scenarioText());
    assert.deepEqual(await page.locator('#conflict li').allTextContents(), expected.conflict);
    assert.match(await page.textContent('#answer'), /No plan meets all limits/);
    assert.match(await page.textContent('#conflict'), /cannot be met together/);
    await page.fill('[id="power_cap"]', '300');
    assert.equal(await page.locator('#conflict').count(), 0);
    assert.ok((await valueOf(page, '#throughput')) > 0);
  });

  test('a power cap and powers by pair are typed, marked where they are wrong, and kept', async () => {
    await open(tab);
    await preset('workstation');
    await allFields();
    await page.fill('[id="tasks.0.power.1"]', '123');
    await page.fill('[id="power_cap"]', '-5');
    assert.match(await page.textContent('[id="mark-power_cap"]'), /-5/);
    await page.fill('[id="power_cap"]', '150');
    await page.fill('[id="tasks.1.power.0"]', 'hot');
    assert.match(await page.textContent('[id="mark-tasks.1.power.0"]'), /hot/);
    await page.fill('[id="tasks.1.power.0"]', '');
    const scenario = await scenarioInAddress(page);
    assert.equal(scenario.power_cap, 150);
    assert.deepEqual(scenario.tasks[0].power, {[scenario.resources[1].name]: 123});
    const expected = allot('solve', JSON.stringify(scenario));
    assertClose(await valueOf(page, '#throughput'), expected.throughput, kPlans, 'throughput');
    assert.match(await page.textContent('#results'), /Mean power: 150 W of at most 150 W/);
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('text=Save TOML')]);
    const path = join(scratch, 'powers.toml');
    writeFileSync(path, readFileSync(await file.path()));
    await preset('paper');
    await page.setInputFiles('#file', path);
    await page.waitForFunction(() => document.getElementById('power_cap')?.value === '150');
    assert.deepEqual((await scenarioInAddress(page)).tasks[0].power, scenario.tasks[0].power);
  });

  test('a type that gets nothing is named, with ways out', async () => {
    await open(tab);
    await preset('workstation');
    await page.check('input[name=service][value=planned]');
    assert.match(await page.textContent('#unserved'), /No task of “detect” and “index” is completed/);
    await page.click('#unserved >> text=Aim for max-min');
    assert.ok(await page.isChecked('input[name=objective][value=max-min]'));
    assert.equal(await page.locator('#unserved').count(), 0);
  });
});

describe('stages and open load', () => {
  test('stages are edited, and rounds follow', async () => {
    await open(tab);
    await preset('stages');
    assert.match(await page.textContent('.headline'), /^220 rounds\/s/);
    await page.click('[aria-label="Remove decode, stage 1, from frame"]');
    await page.selectOption('[aria-label="Add a stage to frame"]', 'encode');
    await page.click('[aria-label="Threads of frame: one less"]');
    await page.fill('[id="groups.0.worth"]', '3');
    const scenario = await scenarioInAddress(page);
    assert.deepEqual(scenario.threads, [{name: 'frame', count: 23, worth: 3, sequence: ['detect', 'encode', 'encode']}]);
    const expected = allot('solve', JSON.stringify(scenario));
    assertClose(await valueOf(page, '#rounds tbody tr', 'data-rounds'), expected.rounds[0], kPlans, 'rounds');
    assertClose(await valueOf(page, '#value'), expected.value, kPlans, 'value');
    await page.fill('[id="groups.0.max_response"]', '-1');
    assert.match(await page.textContent('[id="mark-groups.0.max_response"]'), /-1/);
  });

  test('a type that is renamed or removed is so in the stages', async () => {
    await open(tab);
    await preset('stages');
    await page.fill('[aria-label="Name of task type 2"]', 'find');
    assert.deepEqual((await scenarioInAddress(page)).threads[0].sequence, ['decode', 'find', 'encode']);
    await page.click('[aria-label="Remove task type decode"]');
    assert.deepEqual((await scenarioInAddress(page)).threads[0].sequence, ['find', 'encode']);
    assert.equal(await page.locator('.mark, ul.wrong li').count(), 0);
  });

  test('any scenario can become one of stages, and back', async () => {
    await open(tab);
    const before = await scenarioText();
    await page.click('text=+ stages');
    const scenario = await scenarioInAddress(page);
    assert.equal(scenario.threads[0].count, 18);
    assert.deepEqual(scenario.tasks.map(({count}) => count), [0, 0, 0]);
    assertClose(await valueOf(page, '#rounds tbody tr', 'data-rounds'), allot('solve', JSON.stringify(scenario)).rounds[0], kPlans, 'rounds');
    assert.ok(await page.isDisabled('input[name=service][value=even]'));
    await page.click('text=+ stages');
    await page.waitForSelector('#fairness');
    assert.equal(await page.locator('#rounds tbody tr').count(), 2);
    await page.click('[aria-label="Remove group job 2"]');
    await page.click('text=Undo');
    await page.click('text=Undo');
    await page.click('text=Undo');
    assert.equal(await scenarioText(), before);
  });

  test('arrivals are typed, and what the machine carries follows', async () => {
    await open(tab);
    await preset('load');
    assert.match(await page.textContent('#headroom'), /can carry 1\.522 times the load/);
    await page.fill('[id="tasks.0.arrivals"]', '900');
    const scenario = await scenarioInAddress(page);
    assert.deepEqual(scenario.arrivals[0], {task: 'resize', rate: 900});
    assertClose(await valueOf(page, '#headroom'), allot('solve', JSON.stringify(scenario)).headroom, kPlans, 'headroom');
    assert.match(await page.textContent('#headroom'), /cannot be carried/);
    await page.fill('[id="tasks.2.arrivals"]', '-3');
    assert.match(await page.textContent('[id="mark-tasks.2.arrivals"]'), /-3/);
    await page.fill('[id="tasks.2.arrivals"]', '');
    assert.equal((await scenarioInAddress(page)).arrivals.length, 2);
    await aimFor('max-min');
    assert.match(await page.textContent('#problem'), /there are only arrivals/);
  });
});

describe('value against the least-served type', () => {
  const points = async () => {
    await page.waitForFunction(() => JSON.parse(document.querySelector('#fairness')?.dataset.points ?? '[]').length > 0);
    return JSON.parse(await page.getAttribute('#fairness', 'data-points'));
  };

  test('is what plans with that floor have; this plan and even sharing are marked', async () => {
    const scenario = JSON.parse(allotGenerate('--gps', '3', '--sas', '1', '--threads', '24', '--rates', '1,10', '--priorities', '--seed', '11'));
    scenario.tasks[1].worth = 4;
    await open(tab, planHash(JSON.stringify(scenario)));
    const curve = await points();
    assert.equal(curve.length, 11);
    for (const [least, value] of curve) {
      const floored = {...scenario, tasks: scenario.tasks.map((task) => ({...task, floor: least * task.priority * (1 - 1e-8)}))};
      assertClose(value, allot('solve', JSON.stringify(floored), '--service', 'planned').value, kPlans, `value at ${least}`);
    }
    await page.waitForFunction(() => JSON.parse(document.querySelector('#fairness').dataset.marked).length === 2);
    const leastOf = ({throughput_by_task}) => Math.min(...throughput_by_task.map((x, i) => x / scenario.tasks[i].priority));
    const even = allot('certify', JSON.stringify(scenario));
    const fairest = allot('solve', JSON.stringify(scenario), '--objective', 'max-min');
    const marked = JSON.parse(await page.getAttribute('#fairness', 'data-marked'));
    assert.deepEqual(marked.map(({name}) => name), ['this plan', 'even sharing']);
    assertClose(marked[0].value, allot('solve', JSON.stringify(scenario), '--service', 'planned').value, kPlans, 'this plan');
    assertClose(marked[1].value, even.value, 1e-9, 'even sharing');
    assertClose(marked[1].least, leastOf(even), 1e-9, 'the least of even sharing');
    assertClose(curve.at(-1)[0], fairest.objective_value, kPlans, 'the fairest');
    await page.waitForSelector('#fairness svg[aria-label*="even sharing"]');
    await aimFor('max-min');
    await page.waitForFunction((most) => JSON.parse(document.querySelector('#fairness').dataset.marked)[0].least > 0.999999 * most, curve.at(-1)[0]);
  });

  test('a point can be read by keyboard, and made the floors', async () => {
    await open(tab);
    await preset('fair');
    await aimFor('throughput');
    const curve = await points();
    await page.focus('#level');
    await page.keyboard.press('End');
    assert.match(await page.textContent('#price-of-fairness'), /Every type completes at least 60 tasks\/s per unit of share: .*% less than the most/);
    await page.click('#make-floors');
    await settled(page);
    assert.deepEqual((await scenarioInAddress(page)).tasks.map(({floor}) => Math.round(floor)), [120, 60, 60]);
    assertClose(await valueOf(page, '#throughput'), curve.at(-1)[1], 1e-3, 'the plan with these floors');
    await page.click('text=Undo');
    assert.equal((await scenarioInAddress(page)).tasks[0].floor, undefined);
  });

  test('one group has nothing to trade', async () => {
    await open(tab);
    await preset('stages');
    await points();
    assert.match(await page.textContent('#fairness'), /Fairness costs nothing here/);
  });
});

describe('needs', () => {
  const need = (name) => page.locator(`[aria-label="${name}"]`);

  test('are typed, kept, undone, and count in the plan', async () => {
    await open(tab);
    await preset('needs');
    const first = await objectiveValue();
    assertClose(await valueOf(page, '#packed', 'data-bound'), allot('solve', await scenarioText(), '--service', 'planned').packing_bound, kPlans, 'packings');
    await page.fill('[id="capacities.1.amount"]', '0.5');
    await settled(page);
    const expected = allot('solve', await scenarioText(), '--service', 'planned');
    assert.ok(expected.value < first);
    assertClose(await objectiveValue(), expected.objective_value, kPlans, 'half of the bus');
    for (const {name, price, used} of expected.capacity_use) {
      assertClose(await valueOf(page, `#capacities tr[data-name="${name}"]`, 'data-price'), price, kPlans, `price of ${name}`);
      assert.ok(used <= 24 + 1e-9);
    }
    await need('cpu taken by pack on cpu').fill('2');
    assert.deepEqual((await scenarioInAddress(page)).tasks[2].needs, {cpu: {cpu: 2}});
    await page.click('button:has-text("Undo")');
    assert.deepEqual((await scenarioInAddress(page)).tasks[2].needs, {cpu: {cpu: 4}});
    await need('cpu taken by pack on cpu').fill('');
    assert.equal((await scenarioInAddress(page)).tasks[2].needs, undefined);
  });

  test('are built up from nothing, and follow what is renamed and removed', async () => {
    await open(tab);
    await preset('workstation');
    assert.equal(await page.locator('#needs').count(), 0);
    await page.click('button:has-text("+ capacity")');
    await page.fill('[id="capacities.0.name"]', 'bus');
    await page.check('.capacity:has([id="capacities.0.name"]) input[type=checkbox]');
    await need('bus taken by decode on gpu').fill('0.4');
    await need('cpu taken by decode on gpu').fill('1');
    let scenario = await scenarioInAddress(page);
    assert.deepEqual(scenario.capacities, [{name: 'bus', amount: 1, shared: true}]);
    const decode = () => scenario.tasks.find(({name}) => name === 'decode').needs;
    assert.deepEqual(decode(), {gpu: {cpu: 1, bus: 0.4}});
    await page.fill('[id="resources.0.name"]', 'cores');
    await page.fill('[id="capacities.0.name"]', 'link');
    scenario = await scenarioInAddress(page);
    assert.deepEqual(decode(), {gpu: {cores: 1, link: 0.4}});
    await page.click('button:has-text("+ resource")');
    scenario = await scenarioInAddress(page);
    assert.deepEqual(decode(), {gpu: {cores: 1, link: 0.4}});
    await page.click('[aria-label="Remove resource cores"]');
    scenario = await scenarioInAddress(page);
    assert.deepEqual(decode(), {gpu: {link: 0.4}});
    await page.click('[aria-label="Remove capacity link"]');
    scenario = await scenarioInAddress(page);
    assert.equal(scenario.capacities, undefined);
    assert.equal(decode(), undefined);
  });

  test('that cannot be are told where they stand', async () => {
    await open(tab);
    await preset('needs');
    await need('memory taken by train on gpu').fill('25');
    assert.match(await page.textContent('[id="mark-tasks.1.needs.1.2"]'), /24/);
    await need('memory taken by train on gpu').fill('10');
    await page.fill('[id="capacities.0.amount"]', '-1');
    assert.ok((await page.textContent('[id="mark-capacities.0.amount"]')).length > 0);
  });
});

describe('the link and a reload', () => {
  test('keep service, objective and what energy keeps', async () => {
    await open(tab);
    await preset('workstation');
    await page.check('input[name=service][value=planned]');
    await aimFor('energy');
    await page.fill('#keep', '75');
    const link = await addressOf(page);
    const answer = await objectiveValue();
    const other = await newTab(browser);
    await other.page.goto(link);
    await other.page.waitForSelector('#throughput');
    for (const shown of [other.page, page]) {
      if (shown === page) await page.reload();
      await shown.waitForSelector('#throughput');
      assert.ok(await shown.isChecked('input[name=service][value=planned]'));
      assert.ok(await shown.isChecked('input[name=objective][value=energy]'));
      assert.equal(await shown.inputValue('#keep'), '75');
      assert.equal(await valueOf(shown, '#verdict', 'data-objective'), answer);
    }
    assert.deepEqual(other.complaints, []);
    await other.context.close();
  });

  test('keep the objective where only plans can answer', async () => {
    await open(tab, hashOf(JSON.stringify({
      resources: [{name: 'cpu'}], tasks: [{name: 'a', rates: {cpu: 1}}], threads: [{count: 2, sequence: ['a']}, {count: 2, sequence: ['a', 'a']}],
    })));
    await aimFor('max-min');
    await addressOf(page);
    await page.reload();
    await page.waitForSelector('#throughput');
    assert.ok(await page.isChecked('input[name=objective][value=max-min]'));
    assert.match(await page.textContent('#rounds'), /group 1.*group 2/s);
  });

  test('keep worths, limits, stages and arrivals', async () => {
    await open(tab);
    for (const id of ['worth', 'latency', 'power', 'stages', 'load', 'needs']) {
      await preset(id);
      const before = await scenarioText();
      const answer = await objectiveValue();
      await page.reload();
      await page.waitForSelector('#throughput');
      assert.equal(await scenarioText(), before, id);
      assert.equal(await objectiveValue(), answer, id);
    }
  });

  test('words that nobody knows are the usual ones', async () => {
    await open(tab, hashOf(allotGenerate('--seed', '3')).replace('&', '&service=odd&objective=strange&keep=%00&'));
    assert.ok(await page.isChecked('input[name=service][value=even]'));
    assert.ok((await valueOf(page, '#throughput')) > 0);
  });
});

describe('everybody', () => {
  for (const [name, width, height] of [['desktop', 1280, 900], ['wide desktop', 1400, 900], ['phone', 390, 844]]) {
    for (const colorScheme of ['light', 'dark']) {
      test(`can read plans on a ${name}, ${colorScheme}`, async () => {
        await page.setViewportSize({width, height});
        await page.emulateMedia({colorScheme});
        await open(tab);
        await allFields();
        for (const id of ['worth', 'latency', 'fair', 'power', 'stages', 'load', 'needs', 'workstation']) {
          await preset(id);
          if (id === 'workstation') await page.check('input[name=service][value=planned]');
          if (id === 'power') await aimFor('energy');
          if (id === 'workstation') {
            await page.fill('[id="tasks.2.worth"]', '12.5');
            await page.fill('[id="tasks.0.floor"]', '30');
            await page.fill('[id="tasks.1.max_response"]', '0.1');
          }
          if (id !== 'load') await page.waitForFunction(() => document.querySelector('#fairness')?.dataset.points.length > 2);
          assert.deepEqual(await page.evaluate(look), [], id);
          assert.deepEqual(await violations(page), [], id);
        }
      });
    }
  }
});
