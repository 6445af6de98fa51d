import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import { TokenGauge } from './token-gauge.tsx';

/** What the model sees, and how full it is. */
export function InspectorPane({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const texts = app.texts.value;
  return (
    <section class="pane inspector" aria-labelledby="inspector-title">
      <header class="pane-head">
        <h2 id="inspector-title">{texts.inspector.title}</h2>
        <button
          type="button"
          class="button small"
          disabled={conversation.view.value === undefined}
          onClick={() =>
            void conversation.attempt(async () => {
              await conversation.api.compact();
              await conversation.refresh();
            })
          }
        >
          {texts.inspector.compactNow}
        </button>
      </header>
      <TokenGauge app={app} conversation={conversation} />
    </section>
  );
}
