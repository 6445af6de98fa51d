import { inParallel } from '#shared/lib/in-parallel.ts';
import { retry } from '#functions/lib/retry.ts';
import {
  readConversation,
  readTurnDocuments,
  readTurns,
} from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { seqOfId, turnPath } from '#shared/conversation/documents/paths.ts';
import type { TurnDocument, Notice } from '#shared/conversation/documents/turn.ts';
import { AppError, GuardLostError } from '#shared/lib/errors.ts';
import { decideNotice, NOTICE_LEASE_MS, restPlace, restsAs } from '#shared/notification/notice.ts';
import { createNotification, type TurnToNotify } from '#shared/notification/notification.ts';
import {
  asTurnRested,
  type PublishedEvent,
  type TurnRested,
} from '#shared/notification/published-event.ts';
import type { EventWebhook, Notifier } from '#shared/ports/ports.ts';
import { DEVICES_MAX, readDevices, type StoredDevice } from '#shared/notification/device.ts';
import type { CommonDependencies } from '#functions/common-dependencies.ts';

/** What telling devices and the operator of events works with. */
export interface NotificationDependencies extends Pick<
  CommonDependencies,
  'config' | 'store' | 'clock' | 'sha256' | 'logger'
> {
  /** Absent where FCM_PROJECT is not set. */
  notifier?: Notifier;
  /** Absent where EVENT_WEBHOOK_URL is not set. */
  eventWebhook?: EventWebhook;
}

/** What decides about another delivery: a defect or a failure that may pass, before one that will not. */
const isHopeless = (error: unknown) => error instanceof AppError && !error.retryable;

/**
 * Tells the user's devices and the operator's webhook of an event, side by side. The webhook gets it with the
 * `id` that the bus gave it, the same in every delivery; it may be told more than once, a device is not.
 * Throws what has the event delivered again, or the one failure that there was.
 */
export async function deliverEvent(
  dependencies: NotificationDependencies,
  { event, id }: { event: PublishedEvent; id: string },
  signal: AbortSignal,
): Promise<void> {
  const { notifier, eventWebhook } = dependencies;
  const rested = asTurnRested(event);
  const results = await Promise.allSettled([
    eventWebhook?.tell({ ...event, id }, signal),
    notifier && rested && notifyDevices({ ...dependencies, notifier }, rested, signal),
  ]);
  const errors = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  if (errors.length > 0) throw errors.find((error) => !isHopeless(error)) ?? errors[0];
}

/** An edit or feedback may change the turn while it is told of; what was sent is noted all the same. */
const NOTE_TRIES = 5;

type Notifying = NotificationDependencies & Required<Pick<NotificationDependencies, 'notifier'>>;

/** What a turn notes of who was told; the event says of which rest. */
type RestNotice = Omit<Notice, 'attempt' | 'round'>;

interface Telling {
  event: TurnRested;
  seq: number;
  turn: TurnDocument;
}

/**
 * Tells the owner's devices that a turn has ended, or waits for the app, each once: who sends holds the `notice` of the
 * turn, under a lease. A worker that dies between the sending and the note sends again after it, under the same collapse
 * key. Devices whose token is dead are removed. Throws retryable AppErrors to be asked again (NOTICE_BUSY,
 * NOTIFICATIONS_LEFT), GuardLostError when the turn changes all the while, StoreUnavailableError.
 */
async function notifyDevices(
  dependencies: Notifying,
  event: TurnRested,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, logger } = dependencies;
  const telling = await readTelling(dependencies, event);
  if (!telling) return;
  const { conversation, told } = telling;
  const all = await readDevices(store, conversation.ownerUid);
  const devices = all.slice(0, DEVICES_MAX).filter(({ device }) => !told.includes(device.id));
  if (devices.length === 0) return;
  const turn = await turnToTell(dependencies, telling, conversation);
  const until = new Date(clock.now().getTime() + NOTICE_LEASE_MS);
  const claim: RestNotice = { state: 'sending', until, told: [...told] };
  const claimed = { ...telling, turn: await writeNotice(dependencies, telling, claim) };
  // All at once: there are few.
  const results = await inParallel(devices, devices.length, (device) =>
    notifyDevice(dependencies, { device, turn }, signal),
  );
  const waitsMs = results.flatMap((result) =>
    result.kind === 'later' ? [result.retryAfterMs] : [],
  );
  logger.log('INFO', 'notification_sent', {
    conversationId: event.conversationId,
    turnId: event.turnId,
    state: event.state,
    sent: countOf(results, 'sent'),
    gone: countOf(results, 'gone'),
    refused: countOf(results, 'refused'),
    later: waitsMs.length,
  });
  const now = clock.now();
  if (waitsMs.length === 0)
    return note(dependencies, claimed, { state: 'sent', until: now, told: [] });
  const waitMs = Math.max(...waitsMs);
  const done = results.filter(({ kind }) => kind !== 'later').map(({ deviceId }) => deviceId);
  await note(dependencies, claimed, {
    state: 'sending',
    until: new Date(now.getTime() + waitMs),
    told: [...told, ...done],
  });
  throw laterError(event, 'NOTIFICATIONS_LEFT', waitMs);
}

const laterError = (event: TurnRested, reason: string, waitMs: number) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason,
    message: `${event.turnId} of ${event.conversationId} is to be told of in ${waitMs} ms`,
    publicMessage: 'Not done yet; deliver the event again.',
    retryAfterMs: Math.max(1, waitMs),
  });

async function readTurn(
  { store }: Notifying,
  { conversationId }: TurnRested,
  seq: number,
): Promise<TurnDocument | undefined> {
  const [turn] = await readTurnDocuments(store, conversationId, [seq]);
  return turn;
}

/** Writes the notice under the state of the turn that was read. Throws GuardLostError. */
async function writeNotice(
  { store }: Notifying,
  { event, seq, turn }: Telling,
  notice: RestNotice,
): Promise<TurnDocument> {
  const [updateTime = ''] = await store.commit([
    {
      op: 'update',
      path: turnPath(event.conversationId, seq),
      fields: { notice: { ...restPlace(event), ...notice } },
      guard: { updateTime: turn.updateTime },
    },
  ]);
  return { ...turn, updateTime };
}

/** Notes what was sent; a turn that has gone meanwhile, or that goes on, has nothing to be noted. */
async function note(dependencies: Notifying, telling: Telling, notice: RestNotice): Promise<void> {
  const { event, seq } = telling;
  const attempt = async (tries: number) => {
    const turn = tries === 1 ? telling.turn : await readTurn(dependencies, event, seq);
    if (turn && restsAs(event, turn.value))
      await writeNotice(dependencies, { event, seq, turn }, notice);
  };
  await retry(attempt, { mostTries: NOTE_TRIES });
}

async function turnToTell(
  { config, store, clock }: Notifying,
  { event, seq, turn }: Telling,
  conversation: Conversation,
): Promise<TurnToNotify> {
  const { conversationId } = event;
  const title = conversation.title ?? '';
  const { state: resting, leaseUntil } = turn.value;
  if (resting === 'awaiting_tool') {
    const waitsForMs = leaseUntil.getTime() - clock.now().getTime();
    return { conversationId, seq, state: resting, title, waitsForMs };
  }
  const state = resting === 'done' ? 'done' : 'failed';
  const isShown = config.NOTIFICATION_TEXT === 'preview' && state === 'done';
  const [stored] = isShown ? await readTurns(store, conversationId, [seq]) : [];
  return { conversationId, seq, state, title, answer: stored?.value };
}

const countOf = (results: readonly Told[], wanted: Told['kind']) =>
  results.filter(({ kind }) => kind === wanted).length;

/**
 * The turn as the event finds it and its conversation document, or undefined where nobody is to be told. Throws to be
 * asked later.
 */
async function readTelling(
  dependencies: Notifying,
  event: TurnRested,
): Promise<(Telling & { conversation: Conversation; told: readonly string[] }) | undefined> {
  const { store, clock } = dependencies;
  const seq = seqOfId(event.turnId, 't') ?? 0;
  const [conversation, turn] = await Promise.all([
    readConversation(store, event.conversationId),
    readTurn(dependencies, event, seq),
  ]);
  const found = { conversation: conversation?.value, turn: turn?.value, now: clock.now() };
  const decision = decideNotice(event, found);
  switch (decision.kind) {
    case 'none':
      return undefined;
    case 'wait':
      throw laterError(event, 'NOTICE_BUSY', decision.waitMs);
    case 'send':
      return (
        conversation &&
        turn && { event, seq, turn, conversation: conversation.value, told: decision.told }
      );
  }
}

/** How long to wait where FCM does not say: Pub/Sub's own shortest wait. */
const RETRY_AFTER_MS = 10_000;

/** What came of telling one device; only `later` is to be tried again. */
type Told =
  | { deviceId: string; kind: 'sent' | 'gone' | 'refused' }
  | { deviceId: string; kind: 'later'; retryAfterMs: number };

/** Takes a device away whose token is dead, unless it has got another one meanwhile. */
async function removeDevice(
  { store }: NotificationDependencies,
  { path, updateTime }: StoredDevice,
): Promise<void> {
  try {
    await store.commit([{ op: 'delete', path, guard: { updateTime } }]);
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
  }
}

/** Tells one device. Throws the abortion of `signal`, StoreUnavailableError, and defects. */
async function notifyDevice(
  dependencies: Notifying,
  { device, turn }: { device: StoredDevice; turn: TurnToNotify },
  signal: AbortSignal,
): Promise<Told> {
  const { notifier, logger, config, sha256 } = dependencies;
  const { id: deviceId, token, locale } = device.device;
  const notification = createNotification(turn, {
    text: config.NOTIFICATION_TEXT,
    fallbackTitle: config.NOTIFICATION_TITLE,
    locale,
    sha256,
  });
  let kind: 'sent' | 'gone';
  try {
    kind = await notifier.send({ token, notification }, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    const { reason, retryable, metadata, retryAfterMs = RETRY_AFTER_MS } = error;
    const code = metadata?.['code'];
    // Refusals are the deployment's to mend: a wrong project, a missing permission.
    logger.log(retryable ? 'WARNING' : 'ERROR', 'notification_failed', { reason, code });
    return retryable ? { deviceId, kind: 'later', retryAfterMs } : { deviceId, kind: 'refused' };
  }
  if (kind === 'gone') await removeDevice(dependencies, device);
  return { deviceId, kind };
}
