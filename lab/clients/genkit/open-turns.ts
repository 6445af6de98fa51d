import { randomUUID } from 'node:crypto';
import type { AgentInit, AgentInput } from './agent-cases.ts';
import { appTools, type CaseWorld } from './case-world.ts';
import type { ChatClient, OpenTurn } from './chat-client.ts';
import { findDifference } from './find-difference.ts';
import { toPlace, toSnapshotId, type Place } from './read-snapshot.ts';
import { toRef } from './translate-transcript.ts';

interface Adapter {
  client: ChatClient;
  world: CaseWorld;
}

/** Where the messages of a step go: a conversation, and a turn that waits there for the app. */
interface Target {
  conversationId: string;
  waiting: Place | undefined;
}

/** Finds or makes the conversation that a step speaks to. Throws Refusal. */
export async function findTarget({ client, world }: Adapter, init: AgentInit): Promise<Target> {
  const { snapshotId, sessionId } = init;
  if (snapshotId === undefined) {
    const conversationId = sessionId ?? randomUUID();
    if (sessionId !== undefined) world.translations.add('the session id is the conversation’s');
    const tools = appTools(world.agent);
    if (tools.length > 0) await client.create({ id: conversationId, tools });
    return { conversationId, waiting: undefined };
  }
  world.translations.add('a snapshot is a turn of a conversation');
  const place = toPlace(snapshotId);
  const conversationId = sessionId ?? place.conversationId;
  if (sessionId !== undefined)
    world.translations.add('the session is the conversation in the path');
  const { lastSeq } = await client.conversation(conversationId);
  const isLast = conversationId === place.conversationId && place.turnId === `t_${lastSeq}`;
  if (isLast) return { conversationId, waiting: place };
  world.translations.add('going on from an earlier turn is `:fork`');
  const messageId = world.snapshots.get(snapshotId)?.messageId ?? '';
  return { conversationId: await client.fork(conversationId, messageId), waiting: undefined };
}

/** Says something. `isSecond`: while an earlier message of the step may still be answered. */
export async function openMessage(
  { client, world }: Adapter,
  to: { target: Target; text: string; isSecond: boolean; state: unknown },
): Promise<OpenTurn> {
  const { conversationId } = to.target;
  const id = randomUUID();
  if (to.isSecond) world.translations.add('the second message waits with `onBusy: queue`');
  const opened = await client.open(`/${encodeURIComponent(conversationId)}/messages`, {
    message: { id, parts: [{ type: 'text', text: to.text }] },
    ...(to.isSecond && { onBusy: 'queue' }),
    ...(to.state !== undefined && { state: to.state }),
  });
  const snapshotId = toSnapshotId({ conversationId, turnId: opened.turnId });
  world.snapshots.set(snapshotId, { messageId: id, text: to.text, refs: [] });
  return opened;
}

type Resume = NonNullable<AgentInput['resume']>;

/** Answers or allows the calls that a turn waits for. */
export async function openResume(
  { client, world }: Adapter,
  place: Place,
  { respond = [], restart = [] }: Resume,
): Promise<OpenTurn> {
  const { openCalls = [] } = await client.turn(place.conversationId, place.turnId);
  const refs = world.snapshots.get(toSnapshotId(place))?.refs ?? [];
  const callFor = (ref: string) => openCalls.find(({ callId }) => toRef(callId, refs) === ref);
  if (respond.length > 0)
    world.translations.add(
      respond.every(({ toolResponse }) => callFor(toolResponse.ref))
        ? 'an interrupt waits in `awaiting_tool`, its response is `toolResults`'
        : 'a result for a call that does not wait is refused, and nothing runs',
    );
  const responses = respond.map(({ toolResponse: { ref, output } }) => ({
    // A name that the case makes up is sent as it is.
    callId: callFor(ref)?.callId ?? ref,
    output,
  }));
  const approvals = restart.map(({ toolRequest: { ref, input } }) => {
    const call = callFor(ref);
    // The wire has no place for arguments; who wants to change them must try to send some.
    const isForged = findDifference(call?.args, input, 'input') !== undefined;
    world.translations.add(
      isForged
        ? 'an approval names a call and takes no arguments: with some it is refused, and nothing runs'
        : 'a restart is `toolResults` with `approved: true`',
    );
    return { callId: call?.callId ?? ref, approved: true, ...(isForged && { args: input }) };
  });
  return client.open(`/${place.conversationId}/turns/${place.turnId}/toolResults`, {
    results: [...responses, ...approvals],
  });
}
