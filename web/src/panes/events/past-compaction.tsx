import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import type { ConversationProps } from '#web/state/app.ts';
import { isSaving, savedShare, stepDurations } from '#web/state/context/compaction-steps.ts';
import { nameIn } from '#web/text/languages.ts';
import { Button } from '../controls.tsx';
import { CompactionRating } from './compaction-rating.tsx';

interface PastProps extends ConversationProps {
  record: CompactionRecordView;
}

/** How an outcome looks: nothing is an error to the reader, since a compaction that failed changed nothing. */
function outcomeTone(state: string): 'changed' | 'neutral' | 'unchanged' {
  if (['COMPACTED', 'CONTENT_TRUNCATED', 'RESTORED', 'CHANGED'].includes(state)) return 'changed';
  return ['NOOP', 'SUPERSEDED', 'ABORTED'].includes(state) ? 'neutral' : 'unchanged';
}

/** From how much to how much, as bars of the same scale. */
function Saving({ app, record }: Omit<PastProps, 'conversation'>) {
  const { count, percent } = app.figures.value;
  const { beforeTokens, afterTokens } = record;
  const scale = Math.max(1, beforeTokens, afterTokens);
  return (
    <div class="saving">
      <span class="figure saving-before">{count(beforeTokens)}</span>
      <span class="saving-bars" aria-hidden="true">
        <span class="before" style={{ inlineSize: `${(100 * beforeTokens) / scale}%` }} />
        <span class="after" style={{ inlineSize: `${(100 * afterTokens) / scale}%` }} />
      </span>
      <span aria-hidden="true">→</span>
      <strong class="figure">{count(afterTokens)}</strong>
      <span class="saved figure">{app.texts.value.events.saved(percent(savedShare(record)))}</span>
    </div>
  );
}

function Figures({ app, record }: Omit<PastProps, 'conversation'>) {
  const texts = app.texts.value.events;
  const { count, cost, duration } = app.figures.value;
  const { turnsFolded, calls, costMicros, durationMs } = record;
  const figures: [string, string | undefined][] = [
    [texts.turns, turnsFolded > 0 ? count(turnsFolded) : undefined],
    [texts.calls, calls > 0 ? count(calls) : undefined],
    // Where no model was asked nothing was paid, which says nothing.
    [texts.cost, calls > 0 && costMicros !== undefined ? cost(costMicros) : undefined],
    [texts.duration, durationMs > 0 ? duration(durationMs) : undefined],
  ];
  const known = figures.filter(([, value]) => value !== undefined);
  if (known.length === 0) return null;
  return (
    <dl class="record-figures">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="figure">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The stages that this page saw it in. */
function Steps({ app, conversation, record }: PastProps) {
  const texts = app.texts.value.events;
  const { duration } = app.figures.value;
  const seen = stepDurations(conversation.steps.value, record.jobId);
  if (seen.length === 0) return null;
  return (
    <p class="seen-steps quiet figure">
      {seen
        .map(({ state, tookMs }) => `${nameIn(texts.state, state)} ${duration(tookMs)}`)
        .join(' → ')}
    </p>
  );
}

/** An edit or a restore is what the user did: no compaction had a reason. */
const isOfUser = ({ kind }: CompactionRecordView): boolean => kind !== 'compaction';

/** A compaction that has ended, whatever came of it. */
export function PastCompaction(past: PastProps) {
  const { app, record } = past;
  const texts = app.texts.value.events;
  const { generation, state } = record;
  const tone = outcomeTone(state);
  const finishedAt = new Date(record.finishedAt);
  const hasSnapshot = generation !== undefined && record.turnsFolded > 0;
  return (
    <li class="record" data-tone={tone}>
      <header>
        <strong>{nameIn(texts.state, state)}</strong>
        {!isOfUser(record) && <span class="quiet">{nameIn(texts.trigger, record.trigger)}</span>}
        {generation !== undefined && <span class="chip figure">{`#${generation}`}</span>}
        <time
          class="quiet figure"
          dateTime={record.finishedAt}
          title={app.figures.value.day(finishedAt)}
        >
          {app.figures.value.moment(finishedAt, new Date())}
        </time>
      </header>
      {isSaving(record) && record.beforeTokens > record.afterTokens && (
        <Saving app={app} record={record} />
      )}
      <p class="record-message">{record.message}</p>
      <Figures app={app} record={record} />
      {record.reason !== undefined && (
        <p class="quiet">
          <code>{record.reason}</code>
        </p>
      )}
      <Steps {...past} />
      {hasSnapshot && (
        <>
          <Button
            class="link"
            text={texts.details}
            onClick={() => (app.detail.value = generation)}
          />
          <CompactionRating {...past} generation={generation} score={record.rating?.score} />
        </>
      )}
    </li>
  );
}
