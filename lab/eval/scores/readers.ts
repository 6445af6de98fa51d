import { noCache } from '#shared/recall/search-cache.ts';
import { recallForTurn } from '#functions/chat/features/recall-for-turn.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Content } from '#shared/models/content.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { ArgumentError } from '#infra/command-line.ts';
import type { AnswerFolder } from '../answers/answer-folder.ts';
import { askAll, AnswerMissingError } from '../answers/ask-recorded.ts';
import type { EvalBench } from '../compact/bench.ts';
import { compactGrowing } from '../compact/compact-recording.ts';
import { slicesOf, turnsOf, type RecordedTurn } from '../compact/recorded-turns.ts';
import type { CompactionSettings, EvalSettings } from '../eval-settings.ts';
import type { Recording } from '../replay/recording.ts';
import { compactingMethods, onBench, wantedRecordings, type Scorer } from '../scorer.ts';
import { foldedQuestions, readAndJudge, type Question, type Seen } from './reader-prompts.ts';
import { publicMarks, scoresTable, type Measured } from './reader-scores.ts';

/** What automatic recall puts before a message; '' for nothing. */
type RecallBefore = (message: string) => Promise<string>;

/** Recall as a turn has it whose context is a snapshot without a tail. `recallTokens`: what it may bring. */
async function recallAfter(
  { dependencies }: EvalBench,
  { conversationId, history }: { conversationId: string; history: History },
  recallTokens: number,
): Promise<RecallBefore> {
  const { store, clock, logger } = dependencies;
  const conversation = (await readConversation(store, conversationId))?.value;
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  const source = { store, cache: noCache, logger };
  const index = await loadIndex(source, { conversationId, conversation });
  return async (message) => {
    const load = { startMs: clock.now().getTime(), index: Promise.resolve(index) };
    const { text } = await recallForTurn({ clock, logger }, load, {
      conversationId,
      conversation,
      history,
      turns: [],
      message: { role: 'user', parts: [{ text: message }] },
      budgetTokens: recallTokens,
    });
    return text;
  };
}

/** What is left of a conversation for one who goes on with it. */
interface LeftContext {
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
const wholeContext = (recording: Recording, foldedTurns: number): LeftContext => ({
  method: 'whole history',
  text: renderTurns(turnsOf(recording).slice(0, foldedTurns)),
  beside: nothingBeside,
});

/** Compacts a recording as it grows. Throws AnswerMissingError, and an Error that names the compaction that did not swap. */
async function compactWhole(
  bench: EvalBench,
  settings: CompactionSettings,
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

/** A snapshot; of Recap also with what recall puts before each message. Throws as `compactWhole`. */
async function compactedContexts(
  bench: EvalBench,
  settings: CompactionSettings & { recallTokens: number },
  recording: Recording,
): Promise<LeftContext[]> {
  const compacted = await compactWhole(bench, settings, recording);
  const text = compacted.history.snapshotText;
  if (bench.strategy === 'gemini-cli')
    return [{ method: 'gemini-cli', text, beside: nothingBeside }];
  const beside = await recallAfter(bench, compacted, settings.recallTokens);
  return [
    { method: 'recap', text, beside },
    { method: 'recap, recall off', text, beside: nothingBeside },
  ];
}

/** What each method leaves of a conversation, the ceiling last. Throws AnswerMissingError when all prompts are written. */
async function leftContexts(
  settings: EvalSettings,
  recording: Recording,
  foldedTurns: number,
): Promise<LeftContext[]> {
  const { recallTokens } = settings;
  const contexts = await askAll(
    compactingMethods(settings).map(
      ({ method, compaction }) =>
        () =>
          onBench(settings, method, (bench) =>
            compactedContexts(bench, { ...compaction, recallTokens }, recording),
          ),
    ),
  );
  const whole = settings.methods.includes('whole') ? [wholeContext(recording, foldedTurns)] : [];
  return [...contexts.flat(), ...whole];
}

const seenBy = async (
  { method, text, beside }: LeftContext,
  questions: readonly Question[],
): Promise<Seen> => ({
  method,
  context: text,
  questions: await Promise.all(
    questions.map(async ({ question }) => ({ question, beside: await beside(question) })),
  ),
});

/** What a reader may use for a question, on average. */
const charactersOf = ({ method, context, questions }: Seen) => {
  const besides = questions.reduce((sum, { beside }) => sum + beside.length, 0);
  return { method, characters: Math.round(context.length + besides / questions.length) };
};

async function measure(
  settings: EvalSettings,
  answers: AnswerFolder,
  recording: Recording,
): Promise<Measured> {
  const { id } = recording;
  const { repeat, keepFraction } = settings;
  const turns = turnsOf(recording);
  const foldedTurns = slicesOf(turns, { count: repeat, keepFraction }).at(-1)?.folded ?? 0;
  const keepFrom = turns[foldedTurns]?.firstIndex ?? recording.turns.length;
  const questions = foldedQuestions(recording, { keepFrom, count: settings.questions });
  if (questions.length === 0)
    throw new ArgumentError(
      `${id} has no "probes" whose evidence is folded: its first ${keepFrom} contents are`,
    );
  const contexts = await leftContexts(settings, recording, foldedTurns);
  const seen = await Promise.all(contexts.map((context) => seenBy(context, questions)));
  const marks = await readAndJudge(answers, { id, seen, questions });
  return { id, characters: seen.map(charactersOf), marks };
}

/** What somebody can answer who sees only what is left. */
export const scoreReaders: Scorer = async (settings, files) => {
  const { answers } = settings;
  if (answers === undefined) throw new ArgumentError('--score readers needs --answers DIR');
  const measured: Measured[] = [];
  let isComplete = true;
  for (const recording of wantedRecordings(settings, files)) {
    try {
      measured.push(await measure(settings, answers, recording));
    } catch (error) {
      if (!(error instanceof AnswerMissingError)) throw error;
      isComplete = false;
    }
  }
  return {
    text: measured.length > 0 ? scoresTable(measured) : '',
    figures: isComplete ? publicMarks(measured) : undefined,
    isGood: true,
  };
};
