import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { checkEverything, readUnrest } from './checks/check-everything.ts';
import { checkInbox, type InboxOwner } from './checks/check-inbox.ts';
import {
  type Transcript,
  type Acknowledgement,
  type Finding,
  Ledger,
} from './checks/check-transcripts.ts';
import { type ClientName, startLauncher } from '#test/conformance/launchers/clients.ts';
import type { Launcher } from '#test/conformance/launchers/launcher.ts';
import { App } from './app.ts';
import { driveFaults, repeatedly, restartCalm } from './faults.ts';
import { phoneActions } from './phones/actions.ts';
import { ChatClient } from '#lab/chat-client/client.ts';
import { answersTo, canariesIn } from './phones/message-text.ts';
import { Phone, type PhoneAction } from './phones/phone.ts';
import { Tablet } from './phones/tablet.ts';
import { createRandom, type Random } from './random.ts';
import { type ChaosReport, Tally } from './report.ts';
import { type ChaosWorld, startChaosWorld } from './world.ts';
import { setTimeout as delay } from 'node:timers/promises';

/** How much faster than real time the functions' clock runs: production's leases of 20 and 60 s last 2 and 6 s. */
const TIME_SCALE = 10;
/** How long everything may take to come to rest, twice. */
const REST_TIMEOUT_MS = 90_000;
/** How long apps may take to send all that they have kept. */
const APPS_REST_TIMEOUT_MS = 300_000;
const CONVERSATIONS_PER_PHONE = 2;
const LONG_MESSAGES = 3;
const SWEEP_EVERY_MS = 3_000;
const PROGRESS_EVERY_MS = 5_000;
const REST_POLL_MS = 300;
/** Of the deployment; phones set lower ones. */
const THRESHOLD_TOKENS = 1_500;
const LOST_PUBLISH_SHARE = 0.25;
const PAUSED_SWAP_SHARE = 0.1;

export interface ChaosOptions {
  minutes: number;
  seed: string;
  phones: number;
  /** Apps that are built on a client package, each a process of its own. */
  apps: number;
  /** Which package. */
  client: ClientName;
  onProgress: (line: string) => void;
  onAcknowledge?: (acknowledgement: Acknowledgement) => void;
  onTranscript?: (transcript: Transcript) => void;
  /** Every line that the functions print. */
  onLine?: (line: string) => void;
}

interface Run {
  options: ChaosOptions;
  random: Random;
  world: ChaosWorld;
  store: DocumentStore;
  ledger: Ledger;
  tally: Tally;
  launcher: Launcher;
  clientOf: (uid: string) => ChatClient;
}

const uidOf = (index: number) => `phone-${index}`;

/** What the model will say to a message; the words by which both are known again. */
function prepareAnswers({ world }: Pick<Run, 'world'>, random: Random, text: string): string[] {
  const answers = answersTo(text, random.fork(`answers to ${text}`));
  world.fakeGemini.registerAnswers(...answers);
  return canariesIn(`${text} ${JSON.stringify(answers)}`);
}

function createPhones(
  { options, random, ledger, world, tally, clientOf }: Run,
  signals: { stopping: AbortSignal; deadline: AbortSignal },
): Phone[] {
  return Array.from({ length: options.phones }, (_, index) => {
    const own = random.fork(`phone ${index}`);
    const uid = uidOf(index);
    const conversationIds = Array.from({ length: CONVERSATIONS_PER_PHONE }, () => own.uuid());
    for (const id of conversationIds) ledger.conversations.set(id, uid);
    return new Phone({
      client: clientOf(uid),
      ledger,
      random: own,
      conversationIds,
      uid,
      ...signals,
      count: tally.countAction,
      onMessage: ({ messageId, text }) =>
        void ledger.canaries.set(messageId, prepareAnswers({ world }, own, text)),
    });
  });
}

const createApps = (
  { options, random, ledger, world, tally, launcher }: Run,
  signals: { stopping: AbortSignal; deadline: AbortSignal },
): App[] =>
  Array.from({ length: options.apps }, (_, index) => {
    const own = random.fork(`app ${index}`);
    const uid = `app-${index}`;
    const conversationIds = Array.from({ length: CONVERSATIONS_PER_PHONE }, () => own.uuid());
    return new App({
      chatUrl: world.chatUrl,
      token: unsignedToken({ uid, projectId: world.projectId, now: new Date() }),
      launcher,
      uid,
      conversationIds,
      ledger,
      random: own,
      ...signals,
      count: tally.countAction,
      onMessage: ({ conversationId, text }) => {
        ledger.conversations.set(conversationId, uid);
        prepareAnswers({ world }, own, text);
      },
    });
  });

/** Each action to one phone, in an order of its own: even a short run does each of them. */
function dealActions(count: number, random: Random): PhoneAction[][] {
  const hands = Array.from({ length: count }, (): PhoneAction[] => []);
  const shuffled = phoneActions
    .map((action) => ({ action, place: random.next() }))
    .toSorted((one, other) => one.place - other.place);
  for (const [index, { action }] of shuffled.entries()) hands[index % count]?.push(action);
  return hands;
}

function progressLine({ ledger, tally }: Run, startedAtMs: number): string {
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
  return `${seconds} s: ${ledger.sent.size} sent, ${ledger.acknowledgedCount} acknowledged, ${tally.generations} generations, ${tally.kills + tally.terminations} kills`;
}

/** Resolves when every conversation rests, or when the time is up: then the check says what does not. */
async function comeToRest({ options, store, ledger }: Run): Promise<void> {
  const giveUpAt = performance.now() + REST_TIMEOUT_MS;
  while (performance.now() < giveUpAt) {
    const ids = [...ledger.conversations.keys(), ...ledger.erased.keys()];
    const unrest = await Promise.all(ids.map((id) => readUnrest(store, id)));
    if (unrest.flat().length === 0) return;
    await delay(REST_POLL_MS);
  }
  options.onProgress(`not at rest after ${REST_TIMEOUT_MS / 1_000} s`);
}

/** Phones and apps talk while everything fails; afterwards nothing fails any more. */
async function talkInChaos(run: Run): Promise<{ phones: Phone[]; apps: App[] }> {
  const { options, world, random, tally } = run;
  const stopping = AbortSignal.timeout(options.minutes * 60_000);
  const deadline = AbortSignal.timeout(options.minutes * 60_000 + REST_TIMEOUT_MS);
  const phones = createPhones(run, { stopping, deadline });
  const hands = dealActions(phones.length, random.fork('hands'));
  // What they have kept goes out in order, one after the other.
  const patience = AbortSignal.timeout(options.minutes * 60_000 + APPS_REST_TIMEOUT_MS);
  const apps = createApps(run, { stopping, deadline: patience });
  const talks = Promise.all([
    ...phones.map((phone, index) => phone.live(phoneActions, hands[index])),
    ...apps.map((app) => app.live()),
  ]);
  await driveFaults(world, { random: random.fork('faults'), tally, signal: stopping });
  await restartCalm(world);
  await talks;
  await Promise.all(apps.map((app) => app.comeToRest()));
  return { phones, apps };
}

/** Some long messages in each conversation: all of them go on, and each is compacted at least once. */
async function talkInPeace({ random }: Run, phones: readonly Phone[]): Promise<void> {
  const deadline = AbortSignal.timeout(REST_TIMEOUT_MS);
  await Promise.all(
    phones.map(async ({ options: input, conversationIds }, index) => {
      const own = random.fork(`peace ${index}`);
      const phone = new Phone({ ...input, conversationIds, deadline, random: own });
      const talk = async (conversationId: string) => {
        for (let count = 0; count < LONG_MESSAGES; count += 1)
          await phone.sendUntilKnown(phone.compose({ conversationId, isLong: true }));
      };
      await Promise.all(conversationIds.map(talk));
    }),
  );
}

/** Messages of phones that would not have stopped asking, and never heard how they stand. */
function unanswered(ledger: Ledger, phones: readonly Phone[]): Finding[] {
  const known = new Set(ledger.acknowledgements.map(({ messageId }) => messageId));
  return phones
    .flatMap(({ unknown }) => [...unknown.values()])
    .filter(({ conversationId }) => !ledger.erased.has(conversationId))
    .filter(({ messageId }) => !known.has(messageId))
    .map(({ conversationId, messageId }) => ({
      kind: 'unfinished',
      conversationId,
      messageId,
      what: 'the phone asked again and again, and never got to know',
    }));
}

/** A second device of every user. */
const createOwners = ({ options, random, tally, clientOf }: Run): InboxOwner[] =>
  Array.from({ length: options.phones }, (_, index) => {
    const uid = uidOf(index);
    const own = random.fork(`tablet ${index}`);
    const tablet = new Tablet({ client: clientOf(uid), random: own, count: tally.countAction });
    return { uid, client: clientOf(uid), tablet };
  });

async function report(
  run: Run,
  { phones, apps }: { phones: readonly Phone[]; apps: readonly App[] },
  owners: readonly InboxOwner[],
): Promise<ChaosReport> {
  const { options, ledger, tally } = run;
  const ofApps = apps.flatMap((app) => app.settle());
  const findings = await checkEverything({
    ...run,
    thresholdTokens: THRESHOLD_TOKENS,
    onTranscript: options.onTranscript ?? (() => undefined),
  });
  findings.push(...(await checkInbox(run, owners)));
  const { minutes, seed } = options;
  return {
    minutes,
    seed,
    ledger,
    tally,
    findings: [...findings, ...ofApps, ...unanswered(ledger, phones)],
  };
}

async function openRun(options: ChaosOptions, launcher: Launcher): Promise<Run> {
  const tally = new Tally();
  const world = await startChaosWorld({
    settings: {
      seed: options.seed,
      startedAtMs: Date.now(),
      timeScale: TIME_SCALE,
      lostPublishShare: LOST_PUBLISH_SHARE,
      pausedSwapShare: PAUSED_SWAP_SHARE,
    },
    tally,
    thresholdTokens: THRESHOLD_TOKENS,
    onLine: options.onLine ?? (() => undefined),
  });
  // The store of the check talks to the emulator itself; Google's client reads the address from here.
  process.env.FIRESTORE_EMULATOR_HOST = world.firestoreHost;
  process.env.METADATA_SERVER_DETECTION = 'none';
  const { projectId } = world;
  return {
    options,
    world,
    tally,
    launcher,
    random: createRandom(options.seed),
    store: createFirestoreDocumentStore({ projectId, deadlineMs: 30_000 }),
    ledger: new Ledger(options.onAcknowledge),
    clientOf: (uid) =>
      new ChatClient({
        url: world.chatUrl,
        processUrls: world.chatUrls,
        token: unsignedToken({ uid, projectId, now: new Date() }),
      }),
  };
}

async function runWith(launcher: Launcher, options: ChaosOptions): Promise<ChaosReport> {
  const run = await openRun(options, launcher);
  const ended = new AbortController();
  const { signal } = ended;
  const startedAtMs = performance.now();
  const every = (ms: number) => ({ random: run.random, minMs: ms, maxMs: ms, signal });
  const surroundings = [
    repeatedly(every(PROGRESS_EVERY_MS), () => options.onProgress(progressLine(run, startedAtMs))),
    repeatedly(every(SWEEP_EVERY_MS), () => run.world.publishSweep()),
  ];
  const owners = createOwners(run);
  const apps: App[] = [];
  const asleep = new AbortController();
  const following = owners.map(({ tablet }) => tablet.follow(asleep.signal));
  try {
    const talkers = await talkInChaos(run);
    apps.push(...talkers.apps);
    options.onProgress('no more faults; coming to rest');
    await comeToRest(run);
    await talkInPeace(run, talkers.phones);
    await comeToRest(run);
    asleep.abort();
    await Promise.all(following);
    const deadline = AbortSignal.timeout(REST_TIMEOUT_MS);
    await Promise.all(owners.map(({ tablet }) => tablet.catchUp(deadline)));
    return await report(run, talkers, owners);
  } finally {
    ended.abort();
    asleep.abort();
    await Promise.all(following);
    await Promise.all(surroundings);
    await Promise.all(apps.map((app) => app.stop()));
    await run.world.stop();
  }
}

/**
 * A whole run: chaos, calm, a message more in each conversation, and the check. Throws Error when there
 * are no emulators or a process does not start.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const launcher = await startLauncher(options.client);
  try {
    return await runWith(launcher, options);
  } finally {
    await launcher.stop();
  }
}
