import { batch } from '@preact/signals';
import type { App } from '../state/app.ts';

/** Shows a conversation and, on narrow screens, leaves the pane in front that is there. */
export function showBeside(app: App, id: string): void {
  const pane = app.pane.peek();
  batch(() => {
    app.select(id);
    app.pane.value = pane;
  });
}
