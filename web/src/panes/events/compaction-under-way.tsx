import type { App } from '#web/state/app.ts';
import { isUnderWay } from '#web/state/context/compaction-steps.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { stateName, triggerName } from './compaction-names.ts';

const stages = ['QUEUED', 'RUNNING', 'VERIFYING'] as const;

/** The compaction that waits or runs, stage by stage. */
export function CompactionUnderWay({
  app,
  conversation,
}: {
  app: App;
  conversation: OpenConversation;
}) {
  const status = conversation.context.value?.compaction;
  if (!status || !isUnderWay(status)) return null;
  const { jobId, state, trigger, message } = status;
  const texts = app.texts.value.events;
  const reached = stages.findIndex((stage) => stage === state);
  return (
    <section class="under-way" aria-label={texts.underWay} aria-live="polite">
      <header>
        <strong>{texts.underWay}</strong>
        {trigger !== undefined && <span class="quiet">{triggerName(texts, trigger)}</span>}
        {jobId !== undefined && (
          <button
            type="button"
            class="link"
            onClick={() =>
              void conversation.attempt(async () => {
                await conversation.api.cancelCompaction(jobId);
                await conversation.refresh();
              })
            }
          >
            {texts.stop}
          </button>
        )}
      </header>
      <ol class="stages">
        {stages.map((stage, at) => (
          <li
            key={stage}
            data-reached={at <= reached}
            aria-current={at === reached ? 'step' : undefined}
          >
            {stateName(texts, stage)}
          </li>
        ))}
      </ol>
      {message !== undefined && <p class="quiet">{message}</p>}
    </section>
  );
}
