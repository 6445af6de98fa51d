import { noCache } from '#shared/recall/search-cache.ts';
import { RECALL_TOKENS_DEFAULT } from '#shared/recall/segment.ts';
import { recallForTurn } from '#functions/chat/features/recall-for-turn.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Content } from '#shared/models/content.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { ArgumentError } from '#infra/command-line.ts';
import { askAll, AnswerMissingError, type AnswerFolder } from '../answer-folder.ts';
import type { EvalBench } from '../compact/bench.ts';
import { compactGrowing } from '../compact/compact-recording.ts';
import { slicesOf, turnsOf, type RecordedTurn } from '../compact/recorded-turns.ts';
import type { CompactionSettings, EvalSettings } from '../eval-settings.ts';
import type { Recording } from '../replay/recording.ts';
import { compactingMethods, onBench, wantedRecordings, type Scorer } from '../scorer.ts';
import { foldedQuestions, readAndJudge, type Question, type Seen } from './reader-prompts.ts';
import { publicMarks, scoresTable, type Measured } from './reader-scores.ts';

/** What recall puts before each question, as in a turn whose context is a snapshot without a tail; '' for nothing. */
async function recallFor(
  { dependencies }: EvalBench,
  { conversationId, history }: { conversationId: string; history: History },
  questions: readonly Question[],
): Promise<string[]> {
  const { store, clock, logger } = dependencies;
  const conversation = (await readConversation(store, conversationId))?.value;
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  const source = { store, cache: noCache, logger };
  const index = loadIndex(source, { conversationId, conversation });
  return Promise.all(
    questions.map(async ({ question }) => {
      const load = { startMs: clock.now().getTime(), index };
      const { text } = await recallForTurn({ clock, logger }, load, {
        conversationId,
        conversation,
        history,
        turns: [],
        message: { role: 'user', parts: [{ text: question }] },
        budgetTokens: RECALL_TOKENS_DEFAULT,
      });
      return text;
    }),
  );
}

const textsOf = ({ role, parts }: Content): string =>
  `${role === 'model' ? 'ASSISTANT' : 'USER'}: ${parts
    .map(({ text, ...rest }) => text ?? JSON.stringify(rest))
    .join('\n')}`;

/** The turns word for word, with a line for each day: nobody can know more of them. */
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

/** Questions with nothing of their own beside them. */
const alone = (questions: readonly Question[]): Seen['questions'] =>
  questions.map(({ question }) => ({ question, beside: '' }));

/**
 * What readers see of a recording that is compacted as it grows; of Recap also with what recall puts before each question.
 * Throws AnswerMissingError, and an Error that names the compaction that did not swap.
 */
async function seenCompacted(
  bench: EvalBench,
  settings: CompactionSettings,
  { recording, questions }: { recording: Recording; questions: readonly Question[] },
): Promise<Seen[]> {
  const { conversationId, generations } = await compactGrowing(bench, settings, recording);
  if (bench.answers?.isWaiting() === true) throw new AnswerMissingError('a summary is missing');
  const { history, state, reason } = generations.at(-1) ?? {};
  if (history === undefined)
    throw new Error(
      `${recording.id}, ${bench.strategy}: compaction ${generations.length} of ${settings.repeat} ended ${state} (${reason}). Is its answer what the prompt asks for? A short conversation needs a smaller --repeat.`,
    );
  const context = history.snapshotText;
  if (bench.strategy === 'gemini-cli')
    return [{ method: 'gemini-cli', context, questions: alone(questions) }];
  const recalled = await recallFor(bench, { conversationId, history }, questions);
  const withRecall = questions.map(({ question }, index) => ({
    question,
    beside: recalled[index] ?? '',
  }));
  return [
    { method: 'recap', context, questions: withRecall },
    { method: 'recap, recall off', context, questions: alone(questions) },
  ];
}

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
  const compacted = await askAll(
    compactingMethods(settings).map(
      ({ method, compaction }) =>
        () =>
          onBench(settings, method, (bench) =>
            seenCompacted(bench, compaction, { recording, questions }),
          ),
    ),
  );
  const whole = {
    method: 'whole history',
    context: renderTurns(turns.slice(0, foldedTurns)),
    questions: alone(questions),
  };
  const seen = [...compacted.flat(), ...(settings.methods.includes('whole') ? [whole] : [])];
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
