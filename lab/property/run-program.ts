import { showContext } from '#functions/chat/context/show-context.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import type { Content } from '#shared/models/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { AFTER_TURNS } from '#shared/hooks/after-turn.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { shownContents } from '#test/support/chat/sending.ts';
import {
  ownConversation,
  send,
  type Action,
  type Sending,
  connectBus,
  deliverOnce,
} from './actions/actors.ts';
import { startListening } from './actions/listening.ts';
import { CONVERSATION, FORK, type InitialState } from './initial-state.ts';
import {
  type Fault,
  type Flow,
  type Turn,
  createInterleaving,
  type Interleaving,
} from './interleaving.ts';
import { readDocuments, readTexts, type Documents } from './invariants/documents.ts';
import { eraseTimeOf } from './invariants/journal-writes.ts';
import { createListedStates, type Journal } from './world-store.ts';
import {
  createWorld,
  type StepManner,
  TOOL_RESULT_TIMEOUT_MS,
  type World,
  type WorldOptions,
} from './world.ts';
import { setImmediate } from 'node:timers/promises';

/** A context as a server shows it, its own cache included. */
interface ShownContext {
  server: string;
  contents: Content[];
}

/** What a run left behind, for the invariants to look at. */
export interface RunRecord {
  initial: InitialState;
  journal: Journal;
  /** When all was still, all events were delivered and time had passed. */
  settled: Documents;
  /** Contexts as every server shows them then. */
  shown: ShownContext[];
  /** What the model was sent for the last message; absent without one. */
  lastCall: ModelRequest | undefined;
  /** Whether a last message was sent. */
  isLastSent?: boolean;
  /** After the last message and everything that it led to. */
  final: Documents;
  /** Everything that stands below the conversation then, as text; only where something was erased. */
  remains?: string[];
  fork?: Documents | undefined;
  /** Where the app has a step behind turns: how many documents still ask for it. */
  stepsLeft?: number | undefined;
  /** What never came to an end, or ended otherwise than it must. */
  stuck: string[];
  trace: readonly string[];
}

/** Sent when all is still, in programs that end with a message. */
const LAST = 'last';

const AFTER_TURNS_LEFT = { collection: AFTER_TURNS, limit: 100 };

/** How often what is refused for the moment is tried again. */
const TRIES = 12;
/** Longer than any lease, and than a need waits before it is told again. */
const REST_MS = 61_000;

/** A step is due after a minute, and after two more where a try of the sweep was the first. */
const STEP_SWEEPS = 4;

/** More than any program makes. */
const TURNS_MAX = 100;

interface Running {
  world: World;
  interleaving: Interleaving;
  stuck: string[];
}

async function runStrand(running: Running, input: { name: string; actions: readonly Action[] }) {
  const { world, interleaving } = running;
  const lane = interleaving.lane(input.name);
  for (const action of input.actions) {
    await interleaving.step({ lane, process: undefined }, () => action.text);
    const process = action.server === undefined ? undefined : world.server(action.server).process;
    const work = action.run({ world, interleaving, flow: { lane, process } }).catch((error) => {
      interleaving.note(input.name, `is told ${String(error)}`);
      world.journal.errors.push({ action: action.text, error });
    });
    await (process ? Promise.race([work, process.crashed]) : work);
  }
}

/** Runs everything until it is still; work that has not ended by then never will. */
export async function complete<T>(
  { interleaving, stuck }: Pick<Running, 'interleaving' | 'stuck'>,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  let ended: { value: T } | undefined;
  const watched = work().then(
    (value) => void (ended = { value }),
    (error: unknown) => void stuck.push(`${name}: ${String(error)}`),
  );
  const isEnded = { now: false };
  void watched.then(() => (isEnded.now = true));
  await interleaving.rest();
  if (!isEnded.now) stuck.push(`${name} never ends`);
  return ended?.value;
}

/** A process that nothing happens to. */
function calmFlow({ world, interleaving }: Running, name: string): Flow {
  return { lane: interleaving.lane(name), process: world.server(name).process };
}

/** Time passes and the sweep comes by. */
async function sweepOnce(running: Running): Promise<void> {
  const { interleaving, world } = running;
  interleaving.elapse(REST_MS);
  const flow = calmFlow(running, 'worker-rest');
  const { signal } = new AbortController();
  await runSweep(world.worker(world.server('worker-rest'), flow), signal);
}

/** The need is told to a worker until nobody asks for another delivery. */
async function deliverAll(running: Running): Promise<void> {
  const { interleaving, world } = running;
  const flow = calmFlow(running, 'worker-rest');
  for (let tries = 0; tries < TRIES; tries++) {
    const result = await deliverOnce(world, flow);
    if (result.kind === 'done' && result.reason === 'NO_REQUEST') return;
    if (result.kind === 'done' && result.reason === 'NOT_LIVE') return;
    if (result.kind !== 'done') await interleaving.clock(flow).wait(result.retryAfterMs ?? REST_MS);
  }
  throw new Error(`the need was served ${TRIES} times and is not settled`);
}

/** Sends until the answer is there or the message is refused for good. */
async function sendUntilEnded(running: Running, sending: Sending): Promise<void> {
  const { world, interleaving } = running;
  const flow = calmFlow(running, 'chat-rest');
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return await send({ world, interleaving, flow }, sending);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (!error.retryable) return;
      await interleaving.clock(flow).wait(error.retryAfterMs ?? 1_000);
    }
  }
  throw new Error(
    `${sending.name} was sent ${TRIES} times and has neither an answer nor a final refusal`,
  );
}

/** The context as every server shows it: one without a cache first, then those that have lived through something. */
export async function showEverywhere(running: Running): Promise<ShownContext[]> {
  const { world } = running;
  const shown: ShownContext[] = [];
  for (const server of ['chat-cold', ...world.warmServers()]) {
    const items = await complete(running, `the context on ${server}`, async () => {
      const dependencies = world.chat(world.server(server), calmFlow(running, server));
      return (await showContext(dependencies, ownConversation)).items;
    });
    if (items) shown.push({ server, contents: shownContents(items) });
  }
  return shown;
}

/** The app never comes back: what waits for it expires. */
async function expireWaiting(running: Running): Promise<void> {
  const turns = { collection: `${conversationPath(CONVERSATION)}/turns`, limit: TURNS_MAX };
  const found = await running.world.store.query(turns);
  if (!found.some(({ fields }) => fields['state'] === 'awaiting_tool')) return;
  running.interleaving.elapse(TOOL_RESULT_TIMEOUT_MS);
  await complete(running, 'the sweep of what waits', () => sweepOnce(running));
}

/** The sweep comes by until what is to be done behind turns is due, and was done the second time at the latest. */
async function runStepsLeft(running: Running, { afterTurn }: Program): Promise<void> {
  if (!afterTurn) return;
  for (let sweeps = 0; sweeps < STEP_SWEEPS; sweeps++)
    await complete(running, 'the sweep of steps', () => sweepOnce(running));
}

/** Lets everything end, as it would in the hours after: every message is answered, every need settled. */
async function comeToRest(running: Running, program: Program) {
  const { world } = running;
  await complete(running, 'the sweep', () => sweepOnce(running));
  await complete(running, 'the last delivery', () => deliverAll(running));
  const answered = new Set(world.journal.acknowledged.map(({ messageId }) => messageId));
  for (const [messageId, sending] of world.journal.sent)
    if (!answered.has(messageId))
      await complete(running, `resending ${sending.name}`, () => sendUntilEnded(running, sending));
  await expireWaiting(running);
  await complete(running, 'the delivery after that', () => deliverAll(running));
  const settled = await readDocuments(world.store, CONVERSATION);
  const shown = settled.conversation?.state === 'live' ? await showEverywhere(running) : [];
  if (!program.endsWithMessage) {
    await runStepsLeft(running, program);
    return { settled, shown, lastCall: undefined, final: settled };
  }
  const calls = world.journal.chatCalls.length;
  await complete(running, 'sending last', () => sendUntilEnded(running, { name: LAST }));
  const lastCall = world.journal.chatCalls[calls];
  await complete(running, 'the delivery after the last', () => deliverAll(running));
  await runStepsLeft(running, program);
  return { settled, shown, lastCall, final: await readDocuments(world.store, CONVERSATION) };
}

/** Runs a program as its schedule says, then lets everything come to rest. Equal programs, equal runs. */
export async function runProgram(
  program: Program,
  options: WorldOptions & { isTraced?: boolean } = {},
): Promise<RunRecord> {
  const { initial, strands, schedule, faults } = program;
  // Whatever an earlier run has left to the event loop.
  await setImmediate();
  const interleaving = createInterleaving({
    schedule,
    faults,
    isTraced: options.isTraced ?? false,
  });
  const world = createWorld(interleaving, { ...options, afterTurn: program.afterTurn });
  const running: Running = { world, interleaving, stuck: [] };
  if (initial.writes.length > 0) {
    await world.store.commit(initial.writes);
    const noteListed = createListedStates(world.store);
    const before = { afterCommits: 0, atMs: interleaving.now().getTime() };
    world.journal.listed.push(...(await noteListed(initial.writes, before)));
  }
  connectBus(world, interleaving);
  const { hangsUpAfter } = program;
  const device =
    hangsUpAfter === undefined ? undefined : startListening(world, interleaving, hangsUpAfter);
  await complete(running, 'a strand', () =>
    Promise.all(
      strands.map((actions, index) => runStrand(running, { name: `strand ${index}`, actions })),
    ),
  );
  interleaving.note('all', 'comes to rest');
  interleaving.calm();
  const rest = await comeToRest(running, program);
  if (device) await complete(running, 'the device that listens', () => device.catchUp());
  const { journal, store } = world;
  const writes = journal.commits.flatMap((commit) => commit.writes);
  const isErasing = writes.some((write) => eraseTimeOf(write) !== undefined);
  const lastSeq = initial.marks.length + journal.sent.size + 1;
  const isForked = writes.some(({ path }) => path === conversationPath(FORK));
  return {
    ...rest,
    isLastSent: program.endsWithMessage,
    remains: isErasing ? await readTexts(store, { conversationId: CONVERSATION, lastSeq }) : [],
    fork: isForked ? await readDocuments(store, FORK) : undefined,
    stepsLeft: program.afterTurn && (await store.query(AFTER_TURNS_LEFT)).length,
    initial,
    journal,
    stuck: running.stuck,
    trace: interleaving.trace,
  };
}

export interface Program {
  initial: InitialState;
  /** What runs at the same time; each strand one action after the other. */
  strands: readonly (readonly Action[])[];
  faults: readonly Fault[];
  schedule: readonly Turn[];
  /** Whether one more message is sent when all is still. */
  endsWithMessage: boolean;
  /** How the app's step behind turns behaves; absent: it has none. */
  afterTurn?: StepManner | undefined;
  /** After how many changes of the inbox a device that listens hangs up; absent: none listens. */
  hangsUpAfter?: number | undefined;
}
