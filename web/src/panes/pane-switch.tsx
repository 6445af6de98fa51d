import type { App, PaneName } from '../state/app.ts';

const panes: readonly PaneName[] = ['conversations', 'transcript', 'inspector', 'events'];

/** Which pane a narrow screen shows. */
export function PaneSwitch({ app }: { app: App }) {
  const texts = app.texts.value;
  return (
    <nav class="pane-switch" aria-label={texts.product}>
      {panes.map((pane) => (
        <button
          key={pane}
          type="button"
          aria-current={app.pane.value === pane ? 'page' : undefined}
          onClick={() => (app.pane.value = pane)}
        >
          {texts.panes[pane]}
        </button>
      ))}
    </nav>
  );
}
