import { selectOutputForms } from '#functions/context/next-call.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { CONVERSATION } from '#lab/property/initial-state.ts';
import type { RunRecord } from '#lab/property/run-program.ts';
import { marksIn } from '#lab/property/scripted-models.ts';
import { config, sha256 } from '#lab/property/world.ts';
import { brakeOn, sizeBrakes } from '#shared/compaction/brake.ts';
import { isOverThreshold } from '#shared/compaction/policy.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import type { Write } from '#shared/ports/ports.ts';
import type { Documents } from './documents.ts';
import { when, type Invariant, storedFaults } from './invariant.ts';
import { fieldOf, isConversation, isJob, isOpening } from './journal-writes.ts';

/** The marks that a turn brings into the context; its answer brings none when its place was folded before it came. */
const marksOf = ({ inContext, user, contents, foldedInContext }: Turn): string[] => {
  if (!inContext) return [];
  const said = foldedInContext === undefined ? [user, ...contents] : [user];
  return said.flatMap((content) => marksIn(contentText(content)));
};

/**
 * Answers that came after their place was folded: a fold that reads the turns again, after one of them was deleted,
 * may bring them.
 */
const cameLater = (turns: readonly Turn[]): string[] =>
  turns
    .filter(({ inContext, foldedInContext }) => inContext && foldedInContext !== undefined)
    .flatMap(({ contents }) => contents.flatMap((content) => marksIn(contentText(content))));

/** The marks, without the first mention of each of these. */
function withoutFirst(marks: readonly string[], optional: readonly string[]): string[] {
  const left = new Set(optional);
  return marks.filter((mark) => !left.delete(mark));
}

/**
 * The questions of turns that were folded inside: they stay word for word, so the summariser reads them at each
 * such fold and may name them each time.
 */
const staying = (histories: Documents['histories'], turns: readonly Turn[]): string[] => {
  const inside = histories.filter(({ coveredThrough }) => coveredThrough.contentIndex > 0);
  const seqs = new Set(inside.map(({ coveredThrough }) => coveredThrough.seq));
  return turns.filter(({ seq }) => seqs.has(seq)).flatMap(({ user }) => marksIn(contentText(user)));
};

/** The marks, without the second mention of those that may be named twice. */
const namedOnce = (marks: readonly string[], twice: readonly string[]): string[] =>
  marks.filter((mark, index) => !twice.includes(mark) || marks.indexOf(mark) === index);

function doubleOrMissing({ conversation, turns, histories }: Documents): string[] {
  if (conversation?.state !== 'live') return [];
  const history = histories.find(({ generation }) => generation === conversation.generation);
  const tail = turns.filter(
    ({ seq, state }) => seq >= firstTailSeq(conversation) && isTerminal(state),
  );
  const texts = assembleContext({ ...conversation, history, turns: tail }).map(({ content }) =>
    contentText(content),
  );
  const wanted = turns.flatMap(marksOf).toSorted();
  const marks = withoutFirst(marksIn(texts.join('\n')).toSorted(), cameLater(turns));
  const found = namedOnce(marks, staying(histories, turns));
  return when(
    wanted.join() !== found.join(),
    `the context has ${found.join(' ')}, the transcript ${wanted.join(' ')}`,
  );
}

/** I2. */
export const contextOnce: Invariant = {
  name: 'I2 every content in the context stands in it exactly once, folded or verbatim',
  violations: ({ settled, fork }) => [
    ...storedFaults(settled, 'I2'),
    ...doubleOrMissing(settled),
    ...(fork ? doubleOrMissing(fork).map((text) => `of the fork ${text}`) : []),
  ],
};

/** Tokens of a context that would ask for a compaction if a turn ended now; of any other undefined. */
function dueTokens(conversation: Conversation, documents: Documents): number | undefined {
  const history = documents.histories.find(
    ({ generation }) => generation === conversation.generation,
  );
  const policy = conversationPolicy(config, conversation);
  const turns = documents.turns.filter(
    ({ seq, state }) => seq >= firstTailSeq(conversation) && isTerminal(state),
  );
  const { tokens } = contextTokens(
    { conversation, history, turns },
    selectOutputForms({ config, sha256 }, conversation),
  );
  const { overheadTokens } = conversation.context;
  const { declined } = conversation.compactionRequests;
  const brakes = sizeBrakes({ history, declined, policy });
  const isDue =
    isOverThreshold({ tokens, overheadTokens, policy }) &&
    brakeOn(brakes, { trigger: 'auto', now: new Date(0), tokens }) === undefined;
  return isDue ? tokens : undefined;
}

/** The settings that a write leaves, as text. A change of the title or of the list repeats those that were there. */
const settingsIn = (write: Write): string[] => {
  const settings = isConversation(write) ? fieldOf(write, 'settings') : undefined;
  return settings === undefined ? [] : [JSON.stringify(settings)];
};

/** The newest turn in the context, and what was written until it began, since then, and since it ended. */
function newestTurn({ initial, journal, final }: RunRecord) {
  const { commits } = journal;
  const seq = final.turns.findLast(({ inContext }) => inContext)?.seq ?? 0;
  const beginning = commits.findLastIndex(({ writes }) =>
    writes.some((write) => isOpening(write, seq)),
  );
  const before = commits.slice(0, beginning + 1).flatMap(({ writes }) => writes);
  const since = (isThat: (write: Write) => boolean) =>
    commits
      .slice(commits.findLastIndex(({ writes }) => writes.some(isThat)) + 1)
      .flatMap(({ writes }) => writes);
  return {
    untilBegin: [...initial.writes, ...before],
    sinceBegin: since((write) => isOpening(write, seq)),
    sinceEnd: since(
      (write) => write.path === turnPath(CONVERSATION, seq) && fieldOf(write, 'inContext') === true,
    ),
  };
}

const isSettling = (write: Write) =>
  (isJob(write) && fieldOf(write, 'records') !== undefined) ||
  (isConversation(write) &&
    write.op === 'update' &&
    (write.remove ?? []).some((field) => field.startsWith('compactionRequests.')));

/**
 * Whether the newest outcome is no swap and had not been settled when the newest turn ended: that turn
 * relied on the need that waited, and what became of it is on record. After a swap nothing is a reason.
 *
 * A NOOP is a reason only for the context that it was decided on.
 */
function isTold({ final }: RunRecord, tokens: number, sinceEnd: readonly Write[]): boolean {
  const record = final.job?.records.at(-1);
  if (!record || record.generation !== undefined) return false;
  if (record.state === 'NOOP') return record.beforeTokens === tokens;
  return sinceEnd.some(isSettling);
}

export const crossings: Invariant = {
  name: 'I6 a crossing leads to a compaction or to a recorded reason',
  violations(record) {
    const { conversation } = record.final;
    const tokens =
      conversation?.state === 'live' ? dueTokens(conversation, record.final) : undefined;
    if (tokens === undefined) return [];
    const { untilBegin, sinceBegin, sinceEnd } = newestTurn(record);
    const settings = untilBegin.flatMap(settingsIn).at(-1);
    // A turn asks by the settings that it began with; other settings are for the next one.
    const isOverruled = sinceBegin.flatMap(settingsIn).some((other) => other !== settings);
    return when(
      !isOverruled && !isTold(record, tokens, sinceEnd),
      `the context is due with ${tokens} tokens, and there is neither a compaction nor a reason`,
    );
  },
};
