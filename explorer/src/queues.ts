// Draws queues: a box for each resource, a line for each type in it, a dot for each task. Rings are the places that the
// target has; a dot without a ring is where the target would have none.
import {zoom} from './chart';
import {inkOn, typeColour, typeLetter} from './colours';
import type {Playback} from './playback';

const kLine = 20;
const kTitle = 22;
const kGap = 10;
const kRadius = 7;

interface Place {
  x: number;
  y: number;
}

interface Line {
  y: number;
  type: number;
  resource: number;
}

export class QueueDrawing {
  private readonly lines: Line[] = [];
  private readonly boxes: {top: number; height: number; name: string}[] = [];
  private readonly dots = new Map<number, Place>();
  private readonly zoom = zoom();
  private readonly length: number;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly playback: Playback,
    private readonly target: number[][],
    resources: string[],
  ) {
    let y = 0;
    resources.forEach((name, resource) => {
      const rows = playback.rows.filter((row) => row.resource === resource);
      const height = kTitle + Math.max(1, rows.length) * kLine + 6;
      this.boxes.push({top: y, height, name});
      rows.forEach((row, at) => this.lines.push({y: y + kTitle + at * kLine + kLine / 2, type: row.type, resource}));
      y += height + kGap;
    });
    this.length = y - kGap + 2;
    canvas.style.height = `${this.length * this.zoom}px`;
  }

  /** `ease`: how much of the way to its place a dot goes now, from 0 to 1. */
  draw(ease: number): void {
    const width = this.canvas.clientWidth / this.zoom;
    const scale = (window.devicePixelRatio || 1) * this.zoom;
    const [columns, rows] = [Math.round(width * scale), Math.round(this.length * scale)];
    if (this.canvas.width !== columns || this.canvas.height !== rows) {
      this.canvas.width = columns;
      this.canvas.height = rows;
    }
    const pen = this.canvas.getContext('2d')!;
    const style = getComputedStyle(this.canvas);
    const [ink, quiet, line, raised] = ['--ink', '--quiet', '--line', '--raised'].map((name) => style.getPropertyValue(name));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, this.length);
    pen.font = `13px ${style.fontFamily}`;
    for (const {top, height, name} of this.boxes) {
      pen.fillStyle = raised!;
      pen.strokeStyle = line!;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.roundRect(0.5, top + 0.5, width - 1, height - 1, 6);
      pen.fill();
      pen.stroke();
      pen.fillStyle = ink!;
      pen.textAlign = 'left';
      pen.textBaseline = 'middle';
      pen.fillText(name, 10, top + kTitle / 2 + 1, width - 20);
    }
    const left = 16;
    const places = new Map<number, Place & {type: number; off: boolean}>();
    for (const {y, type, resource} of this.lines) {
      const wanted = this.target[type]?.[resource] ?? 0;
      const row = this.playback.rows.find((candidate) => candidate.type === type && candidate.resource === resource)!;
      const most = Math.max(wanted, row.threads.length, 1);
      const spacing = Math.min(2 * kRadius + 4, (width - 2 * left) / most);
      pen.strokeStyle = quiet!;
      pen.lineWidth = 1;
      for (let slot = 0; slot < wanted; ++slot) {
        pen.beginPath();
        pen.arc(left + slot * spacing, y, kRadius + 1, 0, 2 * Math.PI);
        pen.stroke();
      }
      row.threads.forEach((thread, slot) => places.set(thread, {x: left + slot * spacing, y, type, off: slot >= wanted}));
    }
    for (const [thread, place] of places) {
      const dot = this.dots.get(thread) ?? {x: place.x, y: place.y};
      dot.x += ease * (place.x - dot.x);
      dot.y += ease * (place.y - dot.y);
      this.dots.set(thread, dot);
      const colour = typeColour(place.type);
      pen.globalAlpha = this.playback.running.get(thread) === true ? 1 : 0.45;
      pen.fillStyle = colour;
      pen.beginPath();
      if (place.off) pen.rect(dot.x - kRadius + 1, dot.y - kRadius + 1, 2 * kRadius - 2, 2 * kRadius - 2);
      else pen.arc(dot.x, dot.y, kRadius - 0.5, 0, 2 * Math.PI);
      pen.fill();
      pen.fillStyle = inkOn(colour);
      pen.font = `bold 9px ${style.fontFamily}`;
      pen.textAlign = 'center';
      pen.fillText(typeLetter(place.type), dot.x, dot.y + 0.5);
    }
    pen.globalAlpha = 1;
  }
}
