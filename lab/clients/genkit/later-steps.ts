import { eventually } from '#test/support/eventually.ts';
import type { SnapshotExpectation, StepOfType } from './agent-cases.ts';
import type { CaseWorld } from './case-world.ts';
import { Refusal, type ChatClient } from './chat-client.ts';
import { findDifference } from './find-difference.ts';
import { readSnapshot, toPlace, type Place, type Snapshot } from './read-snapshot.ts';
import { toStatus } from './translate-transcript.ts';

interface Adapter {
  client: ChatClient;
  world: CaseWorld;
}

function checkSnapshot(
  snapshot: Snapshot,
  expected: SnapshotExpectation | undefined,
): string | undefined {
  if (!expected) return undefined;
  const { errorContains } = expected;
  const words = errorContains?.message;
  const said =
    snapshot.error && 'message' in snapshot.error ? String(snapshot.error.message) : undefined;
  return (
    findDifference(snapshot.status, expected.status, 'status') ??
    findDifference(snapshot.finishReason, expected.finishReason, 'finishReason') ??
    findDifference(snapshot.parentId, expected.parentId, 'parentId') ??
    findDifference(snapshot.state, expected.stateContains, 'state') ??
    findDifference(snapshot.error, errorContains && { status: errorContains.status }, 'error') ??
    (words === undefined || said?.includes(words)
      ? undefined
      : `the error says ${JSON.stringify(said)}, not ${JSON.stringify(words)}`)
  );
}

/** The last turn of a session. */
async function lastPlace({ client, world }: Adapter, sessionId: string): Promise<Place> {
  world.translations.add('the latest snapshot is the last turn');
  const { lastSeq } = await client.conversation(sessionId);
  return { conversationId: sessionId, turnId: `t_${lastSeq}` };
}

/** Returns what is not as expected. */
export async function runGetSnapshot(
  adapter: Adapter,
  { snapshotId, sessionId, expectSnapshot }: StepOfType<'getSnapshotData'>,
): Promise<string | undefined> {
  const place =
    snapshotId === undefined ? await lastPlace(adapter, sessionId ?? '') : toPlace(snapshotId);
  adapter.world.translations.add('a snapshot is a turn of a conversation');
  const snapshot = await readSnapshot(adapter.client, adapter.world, place);
  return checkSnapshot(snapshot, expectSnapshot);
}

/** Waits until the turn has ended. */
export async function runWait(
  { client, world }: Adapter,
  { snapshotId, timeoutMs, expectSnapshot }: StepOfType<'waitUntilCompleted'>,
): Promise<string | undefined> {
  const place = toPlace(snapshotId);
  const snapshot = await eventually(
    `the end of ${snapshotId}`,
    async () => {
      const read = await readSnapshot(client, world, place);
      return read.status === 'pending' ? undefined : read;
    },
    timeoutMs,
  );
  return checkSnapshot(snapshot, expectSnapshot);
}

/** What the turn was before it was cancelled, as far as our API tells it; undefined: there is none. */
async function cancel({ client }: Adapter, place: Place): Promise<string | undefined> {
  try {
    const before = toStatus(await client.turn(place.conversationId, place.turnId));
    await client.cancel(place.conversationId, place.turnId);
    return before;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 'NOT_FOUND') return undefined;
    const state = error.reason === 'TURN_FINISHED' ? error.metadata['state'] : undefined;
    if (state === 'done' || state === 'failed') return toStatus({ state });
    throw error;
  }
}

/** Cancels the turn. */
export async function runAbort(
  adapter: Adapter,
  step: StepOfType<'abort'>,
): Promise<string | undefined> {
  adapter.world.translations.add('aborting is `:cancel`');
  const before = await cancel(adapter, toPlace(step.snapshotId));
  if (!('expectPreviousStatus' in step)) return undefined;
  const expected = step.expectPreviousStatus ?? undefined;
  return before === expected
    ? undefined
    : `the status before was ${before ?? 'none'}, not ${expected ?? 'none'}`;
}
