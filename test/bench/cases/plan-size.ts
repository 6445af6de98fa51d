import { planCompaction, type PlanSource } from '../../../shared/compaction/plan.ts';
import { resolvePolicy } from '../../../shared/compaction/policy.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';
import type { BenchCase } from '../bench-case.ts';
import { elapsedMs } from '../elapsed.ts';

const MESSAGES = 50_000;
const MODEL = 'gemini-3.5-flash';
const START = Date.UTC(2026, 0, 1);

const userText = (seq: number) =>
  `Question ${seq}: where do we stay in Busan on day ${seq % 28}, and what does room ${seq % 400} cost?`;
const answerText = (seq: number) =>
  `In the harbour district; room ${seq % 400} costs ${80 + (seq % 90)} euros a night, breakfast at ${7 + (seq % 3)}:30.`;

const turnOf = (seq: number): Turn => ({
  schemaVersion: 1,
  seq,
  messageId: `message-${seq}`,
  state: 'done',
  attempt: 1,
  producer: '',
  leaseUntil: new Date(START),
  createTime: new Date(START + seq * 60_000),
  tokens: { user: 30, answer: 40 },
  inContext: true,
  user: { role: 'user', parts: [{ text: userText(seq) }] },
  contents: [{ role: 'model', parts: [{ text: answerText(seq) }] }],
});

function sourceOf(messages: number): PlanSource {
  const turns = Array.from({ length: messages / 2 }, (_, index) => turnOf(index + 1));
  return {
    context: {
      model: MODEL,
      pins: [],
      history: undefined,
      coveredThrough: { seq: 0, contentIndex: 0 },
      turns,
    },
    policy: resolvePolicy({ model: MODEL }),
    calibration: 1,
    summariserWindowTokens: 1_048_576,
    isModelAllowed: true,
    blobName: (text) => text.slice(0, 8),
  };
}

/** The whole plan of a compaction of 50,000 messages that nobody compacted before, against one JSON of them. */
export function planCases(): BenchCase[] {
  const source = sourceOf(MESSAGES);
  return [
    {
      name: 'plan-50000',
      unit: 'ms',
      referenceName: 'the same messages as one JSON',
      direction: 'atMost',
      aim: 12,
      ours: () => elapsedMs(() => planCompaction(source)),
      reference: () => elapsedMs(() => JSON.stringify(source.context.turns)),
      note: 'Gemini CLI, November 2026: split point alone 44 ms, whole compress() 361 ms',
    },
  ];
}
