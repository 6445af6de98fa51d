import { recallForTurn } from '#functions/chat/features/search/recall-for-turn.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import { noCache, readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { AnswerMissing, type Ask } from '../eval/answers/ask-folder.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { compactGrowing, standingAfter, type GrowSettings } from '../eval/run/eval-generations.ts';
import { slicesOf, turnsOf, type RecordedTurn } from '../eval/run/eval-turns.ts';
import type { Recording } from '../eval/replay/recording.ts';

/** What is left of a conversation for one who goes on with it. */
export interface LeftContext {
  method: string;
  /** In place of the folded turns. */
  text: string;
  /** What stands before a message, for that message alone; '' for nothing. */
  beside: (message: string) => Promise<string>;
}

export type ContextSettings = GrowSettings & {
  /** Tokens that recall may use for a message. */
  recallTokens: number;
};

const nothingBeside = (): Promise<string> => Promise.resolve('');

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
 * Throws AnswerMissing, and an Error that names the compaction that did not swap.
 */
export async function recapContexts(
  bench: EvalBench,
  settings: ContextSettings,
  recording: Recording,
): Promise<LeftContext[]> {
  const { conversationId, generations } = await compactGrowing(bench, settings, recording);
  if (bench.answers?.isWaiting() === true) throw new AnswerMissing();
  const standing = await standingAfter(bench, conversationId, generations.at(-1));
  if (!standing)
    throw new Error(
      `${recording.id}: compaction ${generations.length} of ${settings.repeat} ended ${generations.at(-1)?.reason}. Is its answer what the prompt asks for? A short conversation needs a smaller --repeat.`,
    );
  const { history } = standing;
  const { store, clock, logger } = bench.dependencies;
  const source = { store, cache: noCache, logger };
  const conversation = (await readConversation(store, conversationId))?.value;
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  const index = await loadIndex(source, { conversationId, conversation });
  const withRecall = async (message: string): Promise<string> => {
    const load = { startMs: clock.now().getTime(), index: Promise.resolve(index) };
    const recalled = await recallForTurn({ clock, logger }, load, {
      conversationId,
      conversation,
      history,
      turns: [],
      message: { role: 'user', parts: [{ text: message }] },
      budgetTokens: settings.recallTokens,
    });
    return recalled.text;
  };
  const text = history.snapshotText;
  return [
    { method: 'recap', text, beside: withRecall },
    { method: 'recap, recall off', text, beside: nothingBeside },
  ];
}

/** Another summariser, asked with the same turns in the same rounds. */
export interface OtherSummariser {
  name: string;
  /** Its instruction. */
  system: string;
  /** Characters that its summary may have. */
  roomCharacters: number;
}

/** Throws AnswerMissing. */
export async function summariserContext(
  { name, system, roomCharacters }: OtherSummariser,
  { ask, settings, beforeEach }: AskRounds,
  recording: Recording,
): Promise<LeftContext> {
  const turns = turnsOf(recording);
  const { repeat: count, keepFraction } = settings;
  let summary = '';
  let since = 0;
  for (const [index, { folded }] of slicesOf(turns, { count, keepFraction }).entries()) {
    beforeEach(index + 1);
    const anchor =
      summary === ''
        ? ''
        : 'A summary of what was said before stands above. Integrate all that is still relevant of it into the new one. ';
    const text = [
      ...(summary === '' ? [] : [summary]),
      renderTurns(turns.slice(since, folded)),
      `USER: ${anchor}First, reason in your scratchpad. Then write the summary of all of the above, of at most ${roomCharacters} characters without the scratchpad.`,
    ].join('\n\n');
    const answer = await ask({ kind: 'main', system, text });
    summary = answer.replaceAll(/<scratchpad>[^]*?<\/scratchpad>/gu, '').trim();
    since = folded;
  }
  return { method: name, text: summary, beside: nothingBeside };
}

interface AskRounds {
  ask: Ask;
  settings: Pick<GrowSettings, 'repeat' | 'keepFraction'>;
  beforeEach: (round: number) => void;
}
