// The answer in a line, at the top of the window: it stays in sight however long the scenario is.
import type {ComponentChildren} from 'preact';
import {createPortal} from 'preact/compat';
import {useLayoutEffect, useState} from 'preact/hooks';

export function Headline({children}: {children: ComponentChildren}) {
  const [bar, setBar] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => setBar(document.getElementById('answer')), []);
  return bar === null ? null : createPortal(<p class="headline">{children}</p>, bar);
}
