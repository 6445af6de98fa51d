import { roomForRecords } from '#shared/recall/render-recalled.ts';
import { recall } from '#shared/recall/recall.ts';
import { knownText } from '#shared/recall/said-already.ts';
import {
  passagesOfTurns,
  RECALL_TOKENS_DEFAULT,
  segmentOfPassages,
} from '#shared/recall/segment.ts';
import { findableStatements } from '#shared/recall/turns-led-to.ts';
import { textsOfTurn } from '#shared/search/turn-texts.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { AnswerFolder } from '../eval/answers/answer-folder.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { compactGrowing, standingAfter } from '../eval/run/eval-generations.ts';
import { slicesOf, turnsOf } from '../eval/run/eval-turns.ts';
import type { Recording } from '../eval/replay/recording.ts';
import type { Cut } from './plant.ts';

/** What stands for the folded turns after a round. */
interface Round {
  snapshot: string;
  /** Why the turns of this round were not folded. */
  refusal?: string;
}

/** What a method left, round by round; fewer rounds where an answer is missing. */
export interface Compacted {
  rounds: Round[];
  /** The user's words that come back with a question after the last round, a text each. */
  ask?: (question: string) => string[];
}

export interface MethodSettings extends Cut {
  seed: string;
  snapshotTokens?: number;
}

/** Automatic recall over what the last compaction folded, with the room that it has by default. */
async function recallAfter(
  bench: EvalBench,
  conversationId: string,
  generation: Parameters<typeof standingAfter>[2],
): Promise<Compacted['ask']> {
  const standing = await standingAfter(bench, conversationId, generation);
  if (standing === undefined) return undefined;
  const { history, folded, statements } = standing;
  const segments = [segmentOfPassages(passagesOfTurns(folded.map(textsOfTurn)))];
  const archive = findableStatements(history.snapshot?.archive ?? []);
  const now = folded.at(-1)?.createTime ?? new Date(0);
  return (message) =>
    recall({
      message,
      now,
      segments,
      archive,
      throughSeq: history.coveredThrough.seq,
      hidden: new Set(),
      known: statements.map(knownText),
      hasRoomFor: roomForRecords(RECALL_TOKENS_DEFAULT),
    }).map(({ text }) => text);
}

/** The worker; a compaction that is refused leaves the snapshot of the round before. */
export async function compactWithRecap(
  bench: EvalBench,
  recording: Recording,
  { rounds: repeat, ...wanted }: MethodSettings,
): Promise<Compacted> {
  const beforeEach = (round: number): void => bench.fakeGemini?.setSeed(`${wanted.seed}/${round}`);
  const settings = { ...wanted, repeat, profile: 'assistant' as const, goesOn: true, beforeEach };
  const { conversationId, generations } = await compactGrowing(bench, settings, recording);
  const rounds: Round[] = [];
  for (const { state, reason, history } of generations) {
    if (state === 'WAITING') break;
    const snapshot = history?.snapshotText ?? rounds.at(-1)?.snapshot ?? '';
    rounds.push({ snapshot, ...(!history && { refusal: reason ?? state }) });
  }
  const last = generations.findLast(({ history }) => history !== undefined);
  const ask = await recallAfter(bench, conversationId, last);
  return { rounds, ...(ask && { ask }) };
}

/** Another summariser's instruction, what is asked at the end of a history, and the same once a summary stands in it. */
interface Instruction {
  system: string;
  request: string;
  laterRequest: string;
}

const defaultRequest =
  'First, reason in your scratchpad. Then write the summary of all of the above.';

/** The parts of a file that lines of three dashes divide: the instruction, and perhaps one or two requests. */
export function readInstruction(text: string): Instruction {
  const [system = '', request = defaultRequest, laterRequest = request] = text
    .split(/^---$/mu)
    .map((part) => part.trim());
  return { system, request, laterRequest };
}

const says = (role: 'user' | 'model', text: string): Content => ({ role, parts: [{ text }] });

const CHARACTERS_PER_TOKEN = 4;

const roomHint = (tokens: number | undefined): string =>
  tokens === undefined
    ? ''
    : `\n\nThe summary must have at most ${tokens} tokens (about ${CHARACTERS_PER_TOKEN * tokens} characters).`;

/** Another summariser in Recap's place: its instruction, its summary so far, and the turns that Recap folds in that round. */
export async function compactWithPrompt(
  folder: AnswerFolder,
  { system, request, laterRequest }: Instruction,
  { recording, settings }: { recording: Recording; settings: MethodSettings },
): Promise<Compacted> {
  const turns = turnsOf(recording);
  const { rounds: count, keepFraction, snapshotTokens } = settings;
  const rounds: Round[] = [];
  let covered = 0;
  for (const [index, { folded }] of slicesOf(turns, { count, keepFraction }).entries()) {
    folder.beginGeneration(index + 1);
    const before = rounds.at(-1)?.snapshot;
    const asked = before === undefined ? request : laterRequest;
    const answer = await folder.answer({
      promptId: 'compress-0',
      body: {
        systemInstruction: { parts: [{ text: system }] },
        contents: [
          ...(before === undefined ? [] : [says('user', before), says('model', 'Got it.')]),
          ...turns.slice(covered, folded).flatMap(({ user, contents }) => [user, ...contents]),
          says('user', `${asked}${roomHint(snapshotTokens)}`),
        ],
      },
    });
    if (answer === undefined) break;
    covered = folded;
    rounds.push({ snapshot: answer.replaceAll(/<scratchpad>[^]*?<\/scratchpad>/gu, '').trim() });
  }
  return { rounds };
}
