import { CONVERSATION } from '#lab/property/initial-state.ts';
import { createInterleaving } from '#lab/property/interleaving.ts';
import { readDocuments, type Documents } from '#lab/property/invariants/documents.ts';
import { entryFaults } from '#lab/property/invariants/inbox.ts';
import { violationsOf } from '#lab/property/invariants/invariants.ts';
import { complete, showEverywhere, type RunRecord } from '#lab/property/run-program.ts';
import { marksIn } from '#lab/property/scripted-models.ts';
import { createWorld } from '#lab/property/world.ts';
import { AFTER_TURNS } from '#shared/hooks/after-turn.ts';
import { contentText, type Content } from '#shared/models/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { StoredDocument, Write } from '#shared/ports/ports.ts';
import { unguardedMerges } from '../support/compaction/commit-rules.ts';
import { createRecordedStore } from '../support/stores/recorded-store.ts';
import { withDeath, type KilledWorld } from './killed-world.ts';
import type { Scenario } from './scenario.ts';
import { createStage, type Stage } from './stage.ts';

/** How long the scheduler lets pass between two sweeps; longer than a need waits and a fork is left. */
const SWEEP_EVERY_MS = 11 * 60_000;
const SWEEPS = 3;

const LAST = 'last';

/** What a run leaves for the checks. */
export interface CellRecord {
  /** Everything that is wrong. Empty: the cell holds. */
  problems: string[];
  /** What a person would see; equal in every run of a scenario that may not end otherwise. */
  visible: string;
  /** The crash points that the first server of each kind has passed. */
  passed: ReadonlySet<string>;
  isDead: boolean;
}

type Running = Stage & { stuck: string[]; documents: () => Promise<StoredDocument[]> };

/** What the hours after bring: sweeps, and whatever they have delivered again. */
async function recover(running: Running): Promise<void> {
  for (let sweep = 1; sweep <= SWEEPS; sweep++) {
    running.interleaving.elapse(sweep === 1 ? 61_000 : SWEEP_EVERY_MS);
    await complete(running, `sweep ${sweep}`, () => running.sweep());
  }
}

const seen = (content: Content) => marksIn(contentText(content)).join(' ');

const FINAL_STATES: ReadonlySet<unknown> = new Set(['live', 'deleted', 'erased']);
const FINAL_TURNS: ReadonlySet<unknown> = new Set(['done', 'failed', 'cancelled']);

/** Whether something is still asked for. `declined` asks for nothing: it lets the next one wait. */
const isRequestLeft = (compactionRequests: unknown): boolean =>
  Object.keys(Object(compactionRequests)).some((name) => name !== 'declined');

/** What somebody would have to put right after this, in any conversation. */
const leftovers = (everything: readonly StoredDocument[]): string[] =>
  everything.flatMap(({ path, fields }) => {
    const parts = path.split('/');
    const isLeft = (isWrong: boolean, what: string) => (isWrong ? [`${path}: ${what}`] : []);
    if (parts.length === 2 && parts[0] === 'conversations')
      return [
        ...isLeft(!FINAL_STATES.has(fields['state']), `is ${JSON.stringify(fields['state'])}`),
        ...isLeft(fields['open'] !== undefined, 'a turn is open'),
        ...isLeft(fields['pendingErasure'] !== undefined, 'an erasure is not finished'),
        ...isLeft(isRequestLeft(fields['compactionRequests']), 'a need is left'),
      ];
    if (parts[2] === 'turns' && parts.length === 4)
      return isLeft(!FINAL_TURNS.has(fields['state']), `is ${JSON.stringify(fields['state'])}`);
    if (parts[0] === AFTER_TURNS) return isLeft(true, 'a step behind a turn is left');
    if (parts[2] === 'jobs') return isLeft(fields['owner'] !== '', 'the lease is held');
    return [];
  });

/** The transcript as a person reads it, without numbers that another order of events makes different. */
const visibleOf = ({ conversation, turns }: Documents): string =>
  [
    `the conversation is ${conversation?.state}`,
    ...turns.map(
      ({ messageId, state, inContext, user, contents }) =>
        `${messageId} ${state} ${inContext ? 'in' : 'out'} ${seen(user)} / ${contents.map(seen).join(' ')}`,
    ),
  ].join('\n');

/** Compactions in use of which nobody was told. */
const untold = ({ told }: KilledWorld, { histories }: Documents): string[] =>
  histories
    .filter(({ state }) => state === 'COMPACTED')
    .flatMap(({ generation }) => [
      ...(told.swapped.has(generation) ? [] : [`no event told of generation ${generation}`]),
      ...(told.afterCompaction.has(generation) ? [] : [`no hook learnt of ${generation}`]),
    ]);

interface CellOptions {
  /** Where the first server of its kind is killed. */
  point?: string;
  /** Whoever hears nothing does not come back: the sweep alone puts things right. */
  isLeftAlone?: boolean;
}

function killedWorld(scenario: Scenario, { point, isLeftAlone }: CellOptions) {
  const interleaving = createInterleaving({ schedule: [], faults: [] });
  const { store, documents } = createRecordedStore({ pause: () => Promise.resolve() });
  const plain = createWorld(interleaving, { store, afterTurn: scenario.afterTurn });
  const world = withDeath(plain, { scenario, point });
  const stage = createStage(world, { interleaving, isLeftAlone: isLeftAlone ?? false });
  return { documents, world, stage };
}

/** The journal of the one conversation that the invariants know. */
function journalOf({ journal }: KilledWorld): RunRecord['journal'] {
  const root = conversationPath(CONVERSATION);
  const isOwn = ({ path }: Write) => path === root || path.startsWith(`${root}/`);
  const commits = journal.commits.map((commit) => ({
    ...commit,
    writes: commit.writes.filter(isOwn),
  }));
  const listed = journal.listed.filter(({ conversationId }) => conversationId === CONVERSATION);
  return { ...journal, commits, listed };
}

/** Where the inbox of anybody says otherwise than the conversation, after any commit and at the end. */
function inboxFaults({ journal }: KilledWorld, everything: readonly StoredDocument[]): string[] {
  const named = (pattern: RegExp) =>
    everything.flatMap((document) => {
      const [, id] = pattern.exec(document.path) ?? [];
      return id === undefined ? [] : [[id, document] as const];
    });
  const conversations = new Map(named(/^conversations\/([^/]+)$/));
  const entries = named(/^users\/[^/]+\/inbox\/([^/]+)$/);
  const unlisted = [...conversations].filter(([id]) => entries.every(([other]) => other !== id));
  return [
    ...journal.listed.flatMap(({ conversationId, conversation, entry }) =>
      entryFaults(conversation, entry).map((fault) => `on the way, ${conversationId}: ${fault}`),
    ),
    ...entries.flatMap(([id, entry]) =>
      entryFaults(conversations.get(id), entry).map((fault) => `${entry.path}: ${fault}`),
    ),
    ...unlisted.flatMap(([id, document]) =>
      entryFaults(document, undefined).map((fault) => `${id}: ${fault}`),
    ),
  ];
}

/** What the invariants of every run of this product say. */
async function recordOf(
  running: Running,
  scenario: Scenario,
): Promise<{ record: RunRecord; settled: Documents }> {
  const { world, stuck } = running;
  const settled = await readDocuments(world.store, CONVERSATION);
  const isLive = settled.conversation?.state === 'live';
  const shown = isLive ? await showEverywhere(running) : [];
  const calls = world.journal.chatCalls.length;
  if (isLive) {
    await complete(running, 'one more message', () =>
      running.insist(() => running.say({ name: LAST }, ['chat-1', 'chat-1'])),
    );
    await complete(running, 'the last sweep', () => running.sweep());
  }
  const record = {
    initial: { ...scenario.initial, marks: [] },
    journal: journalOf(world),
    settled,
    shown,
    lastCall: world.journal.chatCalls[calls],
    final: await readDocuments(world.store, CONVERSATION),
    stuck,
    trace: [],
  };
  return { record, settled };
}

/** Runs a scenario, with a death or without, and lets everything recover. */
export async function runCell(scenario: Scenario, options: CellOptions = {}): Promise<CellRecord> {
  const { isLeftAlone = false } = options;
  const { documents, world, stage } = killedWorld(scenario, options);
  const running: Running = { ...stage, stuck: [], documents };
  if (scenario.initial.writes.length > 0) await commitAll(world, scenario);
  await complete(running, scenario.name, () => scenario.run(stage));
  await recover(running);
  const isDead = world.death.isOver();
  const { record, settled } = await recordOf(running, scenario);
  const everything = await documents();
  const isGone =
    settled.conversation?.state !== 'live' && settled.conversation?.state !== 'deleted';
  const common = isGone ? running.stuck : violationsOf(record);
  const { afterTurns } = world.journal;
  const own = isLeftAlone
    ? []
    : (scenario.problems?.({ documents: settled, everything, afterTurns }) ?? []);
  return {
    problems: [
      ...common,
      ...leftovers(everything),
      ...(isGone ? [] : untold(world, settled)),
      ...inboxFaults(world, everything),
      ...world.journal.commits.flatMap(({ writes }) => unguardedMerges(writes)),
      ...own,
    ],
    visible: isGone ? 'nothing' : visibleOf(settled),
    passed: world.death.passed,
    isDead,
  };
}

const WRITES_PER_COMMIT = 200;

async function commitAll({ store }: KilledWorld, { initial }: Scenario): Promise<void> {
  for (let i = 0; i < initial.writes.length; i += WRITES_PER_COMMIT)
    await store.commit(initial.writes.slice(i, i + WRITES_PER_COMMIT));
}
