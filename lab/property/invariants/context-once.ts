import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import type { Documents } from './documents.ts';
import { when, type Invariant } from './invariant.ts';
import { marksIn } from '../scripted-models.ts';
import { storedFaults } from './stored-checks.ts';

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
