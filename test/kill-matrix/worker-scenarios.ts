import type { ModelResponse, StoredDocument } from '#shared/ports/ports.ts';
import { afterTurnWrite } from '#shared/hooks/after-turn.ts';
import { decodeUsage, totalSpentMicros } from '#shared/quota/usage.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { autoRequest, BEFORE, CONVERSATION, writesOf } from '#lab/property/initial-state.ts';
import { due, problem, stateOf, type After, type Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const deliverRequest = ({ deliver }: Stage) =>
  deliver({ schemaVersion: 1, conversationId: CONVERSATION, requestId: 'before' });

/** What the calls cost is in the books of the user and of all alike. */
function booked({ everything }: After) {
  const costs = (isMeant: RegExp, costOf: (document: StoredDocument) => unknown) =>
    everything
      .filter(({ path }) => isMeant.test(path))
      .reduce((sum, document) => sum + Number(costOf(document)), 0);
  const ofUser = costs(/^quotas\/[^/]+\/usage\//, (document) =>
    totalSpentMicros(decodeUsage(document)),
  );
  // What nobody settled stays held until the day ends.
  const ofAll = costs(
    /^budget\//,
    ({ fields }) => Number(fields['costMicros']) - Number(fields['heldMicros']),
  );
  return [
    ...problem(ofUser === 0, 'no call of the summariser is in the books'),
    ...problem(ofUser !== ofAll, `${ofUser} are the user's, and ${ofAll} those of all`),
  ];
}

const compactedOnce = ({ documents }: After) => {
  const swaps = documents.histories.filter(
    ({ state }) => state === 'COMPACTED' || state === 'CONTENT_TRUNCATED',
  );
  const records = documents.job?.records.filter(({ generation }) => generation === 1) ?? [];
  return [
    ...problem(swaps.length !== 1, `there are ${swaps.length} swaps, and not one`),
    ...problem(records.length !== 1, `the swap is recorded ${records.length} times`),
    ...problem(documents.job?.owner !== '', 'the lease is still held'),
  ];
};

const tooMuchAtOnce = await stateOf('more than the summariser can read at once', {
  turns: 40,
  conversation: {
    // Its two passes read all at once or in steps; a ledger reads several chunks at a time.
    profile: 'gemini-cli',
    model: 'gemini-2.5-flash',
    settings: { thresholdFraction: 0.25, windowTokens: 4_000 },
    compactionRequests: autoRequest,
  },
});

const noSummary: ModelResponse = { parts: [{ text: '' }], finishReason: 'STOP' };

const compactions: Scenario[] = [
  {
    name: 'a compaction',
    points: [
      'received',
      'before-claim',
      'claimed',
      'planned',
      'call-held',
      'call-answered',
      'call-settled',
      'summarised',
      'status-written',
      'verified',
      'indexed',
      'before-swap',
      'swapped',
      'settled',
      'reported',
      'acknowledged',
    ],
    initial: due,
    run: deliverRequest,
    problems: (after) => [...compactedOnce(after), ...booked(after)],
  },
  {
    name: 'a compaction during which the user goes on',
    points: ['summarised', 'before-swap', 'swapped'],
    initial: due,
    run: async (stage) => {
      const said = stage.say({ name: 'alpha' }, ['chat-1', 'chat-1']);
      await Promise.all([said, deliverRequest(stage)]);
    },
  },
  {
    name: 'a compaction in steps',
    points: ['swapped', 'request-renewed'],
    initial: tooMuchAtOnce,
    run: deliverRequest,
    problems: ({ documents }) =>
      problem(
        documents.histories.length < 2,
        `there are ${documents.histories.length} swaps, and not several`,
      ),
  },
  {
    name: 'a compaction that fails at first',
    points: ['record-written'],
    initial: due,
    summary: (call) => (call === 1 ? noSummary : undefined),
    run: deliverRequest,
    problems: compactedOnce,
  },
];

const LEFT = 'left-open';
const BINNED = 'in-the-bin';
const EXPIRED = 'expired';

const abandonedTurn = {
  op: 'update' as const,
  path: turnPath(LEFT, 2),
  fields: { state: 'running', leaseUntil: BEFORE, contents: [] },
  guard: { exists: true } as const,
};

const neglected = [
  ...(await writesOf({
    conversationId: LEFT,
    turns: 2,
    conversation: { open: { seq: 2, leaseUntil: BEFORE } },
  })),
  ...(await writesOf({
    conversationId: BINNED,
    turns: 2,
    conversation: { state: 'deleted', compactionRequests: autoRequest },
  })),
  ...(await writesOf({
    conversationId: EXPIRED,
    turns: 2,
    conversation: { expireTime: BEFORE },
  })),
];

function sweepProblems(after: After): string[] {
  const fieldsOf = (path: string) => after.everything.find((each) => each.path === path)?.fields;
  const [left, binned, expired] = [LEFT, BINNED, EXPIRED].map((id) =>
    fieldsOf(conversationPath(id)),
  );
  const below = after.everything.filter(({ path }) =>
    path.startsWith(`${conversationPath(EXPIRED)}/`),
  );
  return [
    ...problem(left?.['open'] !== undefined, 'an abandoned turn is still open'),
    ...problem(fieldsOf(turnPath(LEFT, 2))?.['state'] !== 'failed', 'an abandoned turn still runs'),
    ...problem(
      Object.keys(Object(binned?.['compactionRequests'])).length > 0,
      'a need is left in the bin',
    ),
    ...problem(expired?.['state'] !== 'erased', 'what expired is not erased'),
    ...problem(below.length > 0, `${below.length} documents of what expired are left`),
    ...problem(!after.afterTurns.includes('t_1'), 'no step ran behind the turn that was left'),
    ...compactedOnce(after),
  ];
}

const sweeps: Scenario[] = [
  {
    name: 'a sweep over what nobody came back to',
    points: [
      'sweep-turns-mended',
      'sweep-published',
      'sweep-request-dropped',
      'sweep-marked',
      'sweep-erased',
      'sweep-after-turn-ran',
      'sweep-swept',
    ],
    initial: {
      text: 'conversations that were left in every way',
      marks: [],
      writes: [...due.writes, ...neglected],
    },
    afterTurn: 'works',
    run: async ({ world, sweep }) => {
      await world.store.commit([
        abandonedTurn,
        afterTurnWrite({ conversationId: CONVERSATION, seq: 1 }, BEFORE),
      ]);
      await sweep();
    },
    problems: sweepProblems,
  },
];

/** Everything that a worker does of its own accord or because an event says so. */
export const workerScenarios: readonly Scenario[] = [...compactions, ...sweeps];
