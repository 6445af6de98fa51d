import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { once } from '#shared/once.ts';
import type { Aim, BenchCase, BenchGroup } from '../bench-case.ts';
import type { ConversationKind } from '../bench-conversation.ts';
import { benchFold, benchSource } from '../bench-plan.ts';
import { estimateText, textKinds, type TextKind } from '../estimate-texts.ts';
import { startPeer } from '../peers/peer-process.ts';
import { processorMs } from '../processor-time.ts';
import { shown } from '../report/report.ts';
import { compactByCode } from './engine-size.ts';

const DEADLINE_MS = 120_000;
const SIZES = [1_000, 10_000, 50_000] as const;
type Size = (typeof SIZES)[number];

const kinds = ['chat', 'tools'] as const;
const atMost = (aim: number): Aim => ({ direction: 'atMost', aim });
const sampled = (size: Size) => ({ samples: size === 50_000 ? 2 : 5 });
const unit = 'ms';

/** Gemini CLI in a process of its own, started when first asked for. */
function openGeminiCli() {
  let isOpen = false;
  const open = once(async () => {
    const peer = await startPeer({ peer: 'gemini-cli', script: 'compaction.ts' });
    isOpen = true;
    return peer;
  });
  return {
    ask: async (work: string, argument: string) =>
      (await open()).ask({ work, argument }, DEADLINE_MS),
    close: async () => {
      if (isOpen) await (await open()).close();
    },
  };
}

type GeminiCli = ReturnType<typeof openGeminiCli>;

interface Conversation {
  kind: ConversationKind;
  size: Size;
}

/** Our whole plan ÷ what the peer does until it calls the model. */
function splitPlan(peer: GeminiCli, { kind, size }: Conversation): BenchCase {
  const source = once(() => benchSource(size, kind));
  const argument = `${kind} ${size}`;
  let splitMs = Number.NaN;
  return {
    name: `split-plan-${kind}-${size}`,
    unit,
    referenceName: 'compress() of Gemini CLI until it calls the model',
    ...(size === 50_000 && atMost(0.1)),
    ...sampled(size),
    ours: () => processorMs(() => benchFold(source())),
    reference: async () => {
      splitMs = (await peer.ask('split', argument))['ms'] ?? Number.NaN;
      return (await peer.ask('compress', argument))['beforeModelMs'] ?? Number.NaN;
    },
    note: () => `its bare findCompressSplitPoint: ${shown(splitMs)} ms`,
  };
}

/** All that our code does for a compaction ÷ the peer's whole compress() with a model that answers at once. */
function engine(peer: GeminiCli, { kind, size }: Conversation): BenchCase {
  const source = once(() => benchSource(size, kind));
  let newest: Readonly<Record<string, number>> = {};
  return {
    name: `engine-${size / 1_000}k-${kind}`,
    unit,
    referenceName: 'compress() of Gemini CLI, its model free',
    ...(kind === 'tools' && size === 50_000 && atMost(0.15)),
    ...sampled(size),
    ours: () => processorMs(() => compactByCode(source())),
    reference: async () => {
      newest = await peer.ask('compress', `${kind} ${size}`);
      return newest['ms'] ?? Number.NaN;
    },
    note: () =>
      `it took ${shown(newest['wallMs'] ?? Number.NaN)} ms by the clock and wrote ${newest['files']} files`,
  };
}

/** The longest text that the peer reads: of a longer one it divides the length by four. */
const CHARACTERS = 100_000;
const TIMES = 400;

function estimate(peer: GeminiCli, kind: TextKind): BenchCase {
  const text = once(() => estimateText(kind, CHARACTERS));
  return {
    name: `estimate-${kind}-peer`,
    unit,
    referenceName: 'estimateTokenCountSync of Gemini CLI',
    ...atMost(1),
    ours: () => {
      const value = text();
      return processorMs(() => {
        let sum = 0;
        for (let time = 0; time < TIMES; time++)
          sum += estimateTextTokens(value, 'character-class');
        if (sum === 0) throw new Error('nothing was estimated');
      });
    },
    reference: async () =>
      (await peer.ask('estimate', `${kind} ${CHARACTERS} ${TIMES}`))['ms'] ?? Number.NaN,
  };
}

/** A group with a process of its own. */
function groupOf(
  input: { name: string; title: string },
  casesOf: (peer: GeminiCli) => BenchCase[],
): BenchGroup {
  const peer = openGeminiCli();
  return { ...input, cases: casesOf(peer), close: peer.close };
}

const conversations = kinds.flatMap((kind) => SIZES.map((size) => ({ kind, size })));

/** Processor time of a compaction, ours and Gemini CLI's, on the same conversations and texts. */
export const peerCompactionGroups = (): BenchGroup[] => [
  groupOf({ name: 'peer-plan', title: 'Until the model is called' }, (peer) =>
    conversations.map((input) => splitPlan(peer, input)),
  ),
  groupOf({ name: 'peer-engine', title: 'A compaction without its model' }, (peer) =>
    conversations.map((input) => engine(peer, input)),
  ),
  groupOf({ name: 'peer-estimate', title: 'Estimating tokens' }, (peer) =>
    textKinds.map((kind) => estimate(peer, kind)),
  ),
];
