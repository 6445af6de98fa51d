import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import { cost, counted, dayAndTime, duration, inWords, percent, when } from '#web/figures.ts';
import type { App, ConversationProps } from '#web/state/app.ts';
import { isSaving, isUnderWay, savedShare, stages } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { Button } from '../controls.tsx';

const triggerNames: Readonly<Record<string, string>> = {
  auto: 'automatic',
  manual: 'asked for',
  modelSwitch: 'model changed',
};

/** The compaction that waits or runs, stage by stage. */
function CompactionUnderWay({ conversation }: { conversation: OpenConversation }) {
  const status = conversation.context.value?.compaction;
  if (!status || !isUnderWay(status)) return null;
  const { jobId, state, trigger, message } = status;
  const reached = Object.keys(stages).indexOf(state);
  return (
    <section class="banner" aria-label="Compaction under way" aria-live="polite">
      <header class="bar">
        <strong>Compaction under way</strong>
        {trigger !== undefined && <span>{triggerNames[trigger] ?? trigger}</span>}
        {jobId !== undefined && (
          <Button
            class="link at-end"
            text="Stop it"
            onClick={() =>
              void conversation.change(() =>
                conversation.chat.call('POST', `/compactions/${jobId}:cancel`),
              )
            }
          />
        )}
      </header>
      <ol class="stages">
        {Object.values(stages).map((name, at) => (
          <li
            key={name}
            data-reached={at <= reached}
            aria-current={at === reached ? 'step' : undefined}
          >
            {name}
          </li>
        ))}
      </ol>
      {message !== undefined && <p>{message}</p>}
    </section>
  );
}

/** What it took; where no model was asked nothing was paid, which says nothing. */
const figures = ({ turnsFolded, calls, costMicros, durationMs }: CompactionRecordView): string =>
  [
    turnsFolded > 0 && counted(turnsFolded, 'turn'),
    calls > 0 && counted(calls, 'call'),
    calls > 0 && costMicros !== undefined && cost(costMicros),
    durationMs > 0 && duration(durationMs),
  ]
    .filter((figure) => figure !== false)
    .join(' · ');

/** A compaction that has ended, whatever came of it. */
function PastCompaction({ app, record }: { app: App; record: CompactionRecordView }) {
  const { generation, state, kind } = record;
  const finishedAt = new Date(record.finishedAt);
  const hasSnapshot = generation !== undefined && record.turnsFolded > 0;
  return (
    <li class="record">
      <header class="bar">
        <strong>{inWords(state)}</strong>
        {/* An edit or a restore is what the user did: it had no other reason. */}
        {kind === 'compaction' && (
          <span class="quiet">{triggerNames[record.trigger] ?? record.trigger}</span>
        )}
        {generation !== undefined && <span class="chip figure">{`#${generation}`}</span>}
        {isSaving(record) && <span class="saved figure">{percent(savedShare(record))} saved</span>}
        <time
          class="quiet figure at-end"
          dateTime={record.finishedAt}
          title={dayAndTime(finishedAt)}
        >
          {when(finishedAt)}
        </time>
      </header>
      <p class="quiet">{record.message}</p>
      <p class="small figure">{figures(record)}</p>
      {record.reason !== undefined && <code>{record.reason}</code>}
      {hasSnapshot && (
        <Button
          class="link"
          text="Show what was kept"
          onClick={() => (app.detail.value = generation)}
        />
      )}
    </li>
  );
}

/** Compactions, the newest first: what is under way, then what has ended and how. */
export function CompactionTimeline({ app, conversation }: ConversationProps) {
  const records = conversation.compactions.value;
  const context = conversation.context.value;
  const isRead = !context || conversation.shown.value !== undefined;
  const isQuiet = isRead && records.length === 0 && !isUnderWay(context?.compaction);
  return (
    <>
      <CompactionUnderWay conversation={conversation} />
      {isQuiet && (
        <p class="quiet">
          No compaction yet. It starts by itself at the threshold, or with “Compact now”.
        </p>
      )}
      <ol class="timeline">
        {records.map((record) => (
          <PastCompaction key={`${record.jobId}-${record.finishedAt}`} app={app} record={record} />
        ))}
      </ol>
      {conversation.moreCompactions.value !== undefined && (
        <Button
          class="link"
          text="Show older"
          onClick={() => void conversation.attempt(() => conversation.loadMoreCompactions())}
        />
      )}
    </>
  );
}
