import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { toFolded } from '#web/state/context/gauge.ts';

/** The line below the last turn that the snapshot stands in for. */
export function FoldMark({
  app,
  conversation,
  seq,
}: {
  app: App;
  conversation: OpenConversation;
  seq: number;
}) {
  const { generation, upTo } = toFolded(conversation.compactions.value);
  if (upTo !== seq) return null;
  const { transcript: texts, events } = app.texts.value;
  return (
    <div class="fold-mark">
      <span>{texts.foldMark(app.figures.value.count(upTo))}</span>
      <button type="button" class="link" onClick={() => (app.detail.value = generation)}>
        {events.details}
      </button>
    </div>
  );
}
