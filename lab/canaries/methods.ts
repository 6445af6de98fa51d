import { decodeXml } from '#shared/text/escape-xml.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { RECALL_TOKENS_DEFAULT } from '#shared/recall/segment.ts';
import type { AnswerFolder } from '../eval/answers/answer-folder.ts';
import { recallAfter, type RecallBefore } from '../eval/recall/recall-after.ts';
import type { EvalBench } from '../eval/run/eval-bench.ts';
import { compactGrowing } from '../eval/run/eval-generations.ts';
import {
  SUMMARY_REQUEST,
  summariseInRounds,
  type OtherSummariser,
} from '../eval/run/other-summariser.ts';
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
  /** What comes back with a question after the last round. */
  ask?: RecallBefore;
}

export interface MethodSettings extends Cut {
  seed: string;
  snapshotTokens?: number;
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
  const history = generations.findLast((each) => each.history !== undefined)?.history;
  if (!history) return { rounds };
  const ask = await recallAfter(bench, { conversationId, history }, RECALL_TOKENS_DEFAULT);
  return { rounds, ask: async (question) => decodeXml(await ask(question)) };
}

const DEFAULT_REQUEST = `${SUMMARY_REQUEST}.`;

const says = (role: 'user' | 'model', text: string): Content => ({ role, parts: [{ text }] });

const CHARACTERS_PER_TOKEN = 4;

const roomHint = (tokens: number | undefined): string =>
  tokens === undefined
    ? ''
    : `\n\nThe summary must have at most ${tokens} tokens (about ${CHARACTERS_PER_TOKEN * tokens} characters).`;

/** Another summariser in Recap's place: its instruction, its summary so far, and the turns that Recap folds in that round. */
export async function compactWithPrompt(
  folder: AnswerFolder,
  { system, requests: [request = DEFAULT_REQUEST, laterRequest = request] }: OtherSummariser,
  { recording, settings }: { recording: Recording; settings: MethodSettings },
): Promise<Compacted> {
  const { rounds: count, keepFraction, snapshotTokens } = settings;
  const summaries = await summariseInRounds(
    recording,
    { count, keepFraction },
    ({ round, before, turns }) => {
      folder.beginGeneration(round);
      const asked = before === undefined ? request : laterRequest;
      return folder.answer({
        promptId: 'compress-0',
        body: {
          systemInstruction: { parts: [{ text: system }] },
          contents: [
            ...(before === undefined ? [] : [says('user', before), says('model', 'Got it.')]),
            ...turns.flatMap(({ user, contents }) => [user, ...contents]),
            says('user', `${asked}${roomHint(snapshotTokens)}`),
          ],
        },
      });
    },
  );
  return { rounds: summaries.map((snapshot) => ({ snapshot })) };
}
