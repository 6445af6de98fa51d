import type { Content } from '#shared/conversation/documents/content.ts';
import { AnswerMissingError, type Ask } from '../eval/answers/ask-recorded.ts';
import { recallAfter, type RecallBefore } from '../eval/recall/recall-after.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { compactGrowing, standingAfter, type GrowSettings } from '../eval/run/eval-generations.ts';
import { turnsOf, type RecordedTurn } from '../eval/run/eval-turns.ts';
import {
  SUMMARY_REQUEST,
  summariseInRounds,
  type OtherSummariser,
} from '../eval/run/other-summariser.ts';
import type { Recording } from '../eval/replay/recording.ts';

/** What is left of a conversation for one who goes on with it. */
export interface LeftContext {
  method: string;
  /** In place of the folded turns. */
  text: string;
  /** What stands before a message, for that message alone; '' for nothing. */
  beside: RecallBefore;
}

export type ContextSettings = GrowSettings & {
  /** Tokens that recall may use for a message. */
  recallTokens: number;
};

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

/**
 * The snapshot that the worker leaves after `repeat` compactions, alone and with what recall puts before each message.
 * Throws AnswerMissingError, and an Error that names the compaction that did not swap.
 */
export async function recapContexts(
  bench: EvalBench,
  settings: ContextSettings,
  recording: Recording,
): Promise<LeftContext[]> {
  const { conversationId, generations } = await compactGrowing(bench, settings, recording);
  if (bench.answers?.isWaiting() === true) throw new AnswerMissingError(bench.answers);
  const standing = await standingAfter(bench, conversationId, generations.at(-1));
  if (!standing)
    throw new Error(
      `${recording.id}: compaction ${generations.length} of ${settings.repeat} ended ${generations.at(-1)?.reason}. Is its answer what the prompt asks for? A short conversation needs a smaller --repeat.`,
    );
  const { history } = standing;
  const after = { conversationId, history };
  const withRecall = await recallAfter(bench, after, settings.recallTokens);
  const text = history.snapshotText;
  return [
    { method: 'recap', text, beside: withRecall },
    { method: 'recap, recall off', text, beside: nothingBeside },
  ];
}

/** What another summariser is told of the room, and whom it asks. */
interface SummaryAsked {
  ask: Ask;
  settings: Pick<GrowSettings, 'repeat' | 'keepFraction'>;
  /** Characters that a summary may have. */
  roomCharacters: number;
  beforeEach: (round: number) => void;
}

/** The summary that another summariser leaves after the same turns in the same rounds. Throws AnswerMissingError. */
export async function summariserContext(
  { name, system }: OtherSummariser,
  { ask, settings, roomCharacters, beforeEach }: SummaryAsked,
  recording: Recording,
): Promise<LeftContext> {
  const cut = { count: settings.repeat, keepFraction: settings.keepFraction };
  const summaries = await summariseInRounds(recording, cut, ({ round, before, turns }) => {
    beforeEach(round);
    const anchor =
      before === undefined
        ? ''
        : 'A summary of what was said before stands above. Integrate all that is still relevant of it into the new one. ';
    const text = [
      ...(before === undefined ? [] : [before]),
      renderTurns(turns),
      `USER: ${anchor}${SUMMARY_REQUEST}, of at most ${roomCharacters} characters without the scratchpad.`,
    ].join('\n\n');
    return ask({ kind: 'main', system, text });
  });
  return { method: name, text: summaries.at(-1) ?? '', beside: nothingBeside };
}
