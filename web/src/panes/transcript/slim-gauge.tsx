import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';

/** How full the context is, beside the title: on a narrow screen the inspector is another pane. */
export function SlimGauge({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const context = conversation.context.value;
  if (!context) return null;
  const limit = context.thresholdTokens ?? context.windowTokens;
  const share = context.tokens / limit;
  const { panes } = app.texts.value;
  return (
    <button
      type="button"
      class="slim-gauge"
      title={panes.inspector}
      aria-label={`${panes.inspector}: ${app.figures.value.percent(share)}`}
      onClick={() => (app.pane.value = 'inspector')}
    >
      <span class="slim-gauge-bar" aria-hidden="true">
        <span style={{ width: `${100 * Math.min(1, share)}%` }} />
      </span>
      <span class="figure">{app.figures.value.percent(share)}</span>
    </button>
  );
}
