import type { Content } from '#shared/conversation/documents/content.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { AnswerMissingError } from '../eval/answers/ask-recorded.ts';
import { recallAfter, type RecallBefore } from '../eval/recall/recall-after.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { compactGrowing, type GrowSettings } from '../eval/run/eval-generations.ts';
import { turnsOf, type RecordedTurn } from '../eval/run/eval-turns.ts';
import type { Recording } from '../eval/replay/recording.ts';

/** What is left of a conversation for one who goes on with it. */
export interface LeftContext {
  method: string;
  /** In place of the folded turns. */
  text: string;
  /** What stands before a message, for that message alone; '' for nothing. */
  beside: RecallBefore;
}

const nothingBeside: RecallBefore = () => Promise.resolve('');

const textsOf = ({ role, parts }: Content): string =>
  `${role === 'model' ? 'ASSISTANT' : 'USER'}: ${parts
    .map(({ text, ...rest }) => text ?? JSON.stringify(rest))
    .join('\n')}`;

/** The turns word for word, with a line for each day. */
function renderTurns(turns: readonly RecordedTurn[]): string {
  let day = '';
  return turns
    .flatMap(({ user, contents, at }) => {
      const date = at.toISOString().slice(0, 10);
      const heading = date === day ? [] : [`[${date}]`];
      day = date;
      return [...heading, ...[user, ...contents].map(textsOf)];
    })
    .join('\n\n');
}

/** Every folded turn word for word: nobody can know more of them. */
export const wholeContext = (recording: Recording, foldedTurns: number): LeftContext => ({
  method: 'whole history',
  text: renderTurns(turnsOf(recording).slice(0, foldedTurns)),
  beside: nothingBeside,
});

/** Compacts a recording as it grows. Throws AnswerMissingError, and an Error that names the compaction that did not swap. */
async function compactWhole(
  bench: EvalBench,
  settings: GrowSettings,
  recording: Recording,
): Promise<{ conversationId: string; history: History }> {
  const { conversationId, generations } = await compactGrowing(bench, settings, recording);
  if (bench.answers?.isWaiting() === true) throw new AnswerMissingError(bench.answers);
  const last = generations.at(-1);
  if (last?.history === undefined)
    throw new Error(
      `${recording.id}, ${bench.strategy}: compaction ${generations.length} of ${settings.repeat} ended ${last?.state} (${last?.reason}). Is its answer what the prompt asks for? A short conversation needs a smaller --repeat.`,
    );
  return { conversationId, history: last.history };
}

/**
 * Recap's snapshot, with what recall puts before each message and alone. `recallTokens`: what recall may use for a
 * message. Throws as `compactWhole`.
 */
export async function recapContexts(
  bench: EvalBench,
  settings: GrowSettings & { recallTokens: number },
  recording: Recording,
): Promise<LeftContext[]> {
  const compacted = await compactWhole(bench, settings, recording);
  const text = compacted.history.snapshotText;
  return [
    {
      method: 'recap',
      text,
      beside: await recallAfter(bench, compacted, settings.recallTokens),
    },
    { method: 'recap, recall off', text, beside: nothingBeside },
  ];
}

/** The snapshot of Gemini CLI's algorithm, which has no recall. Throws as `compactWhole`. */
export async function geminiCliContext(
  bench: EvalBench,
  settings: GrowSettings,
  recording: Recording,
): Promise<LeftContext> {
  const { history } = await compactWhole(bench, settings, recording);
  return { method: 'gemini-cli', text: history.snapshotText, beside: nothingBeside };
}
