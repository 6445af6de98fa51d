import type { ErrorExpectation, StepOfType } from './agent-cases.ts';
import type { CaseWorld } from './case-world.ts';
import { Refusal, type ChatClient, type OpenTurn } from './chat-client.ts';
import { findDifference } from './find-difference.ts';
import { findTarget, openMessage, openResume } from './open-turns.ts';
import { isStreamed, orderAnswers, orderBehaviour } from './order-answers.ts';
import { readLastMessage, readSnapshot, toSnapshotId, type Place } from './read-snapshot.ts';
import { isWordFor } from './refusal-words.ts';
import { isModelText, toChunks, type GenkitChunk } from './translate-stream.ts';

type SendStep = StepOfType<'send'>;
interface Adapter {
  client: ChatClient;
  world: CaseWorld;
}

/** What an answer in Genkit's words is made of. */
interface Output {
  snapshotId: string | undefined;
  finishReason: string | undefined;
  message: object | undefined;
  state: { sessionId: string; messages: object[] } | undefined;
  error: Refusal | undefined;
  chunks: GenkitChunk[];
}

const refused = (error: Refusal): Output => ({
  snapshotId: undefined,
  finishReason: 'failed',
  message: undefined,
  state: undefined,
  error,
  chunks: [],
});

/** What the model is asked in this step, as far as it is known before. */
function textsOf({ inputs, init }: SendStep, { snapshots }: CaseWorld): string[] {
  const texts = inputs.flatMap(({ message }) => message?.content.map(({ text }) => text) ?? []);
  const resumed = inputs.some(({ resume }) => resume !== undefined);
  const before = snapshots.get(init.snapshotId ?? '')?.text;
  return resumed && before !== undefined ? [before, ...texts] : texts;
}

/** Sends all inputs of a step, one behind the other without waiting for answers. Throws Refusal. */
async function openAll(adapter: Adapter, step: SendStep) {
  const { world } = adapter;
  const refs = orderAnswers(world.fakeGemini, textsOf(step, world), step);
  const target = await findTarget(adapter, step.init);
  const { conversationId } = target;
  const opened: { turn: OpenTurn; place: Place }[] = [];
  for (const { message, resume } of step.inputs) {
    const [text] = message?.content.map((part) => part.text) ?? [];
    const isSecond = opened.length > 0;
    let turn: OpenTurn | undefined;
    if (text !== undefined)
      turn = await openMessage(adapter, { target, text, isSecond, state: step.init.state });
    else if (resume && target.waiting) turn = await openResume(adapter, target.waiting, resume);
    if (!turn) continue;
    const place = { conversationId, turnId: turn.turnId };
    opened.push({ turn, place });
    const known = world.snapshots.get(toSnapshotId(place));
    known?.refs.push(...(refs.get(known.text) ?? []));
  }
  return opened;
}

async function runInputs(adapter: Adapter, step: SendStep): Promise<Output> {
  const { client, world } = adapter;
  const opened = await openAll(adapter, step);
  const last = opened.at(-1);
  if (!last) throw new Error('the step sends nothing that the adapter knows');
  const snapshotId = toSnapshotId(last.place);
  if (step.inputs.some(({ detach }) => detach)) {
    world.translations.add('detaching is leaving the stream: the turn goes on');
    for (const { turn } of opened) turn.leave();
    const nothing = { finishReason: undefined, message: undefined, state: undefined };
    return { ...nothing, snapshotId, error: undefined, chunks: [] };
  }
  const streams = await Promise.all(opened.map(({ turn }) => turn.frames()));
  const chunks = streams.flatMap((frames, index) => {
    const place = opened[index]?.place;
    return toChunks(frames, (place && world.snapshots.get(toSnapshotId(place))?.refs) ?? []);
  });
  const { state } = await readSnapshot(client, world, last.place);
  if (step.expectOutput?.stateContains !== undefined)
    world.translations.add('the state is the transcript, read with GET');
  if (isStreamed(step)) world.translations.add('pieces of the model are `text-delta`');
  const end = chunks.findLast(({ turnEnd }) => turnEnd !== undefined)?.['turnEnd'];
  const reason = typeof end === 'object' && end && 'finishReason' in end ? end.finishReason : '';
  const message = await readLastMessage(client, world, last.place);
  return { snapshotId, finishReason: String(reason), message, state, error: undefined, chunks };
}

function checkError(error: Refusal | undefined, expected: ErrorExpectation): string | undefined {
  if (!error) return 'it is not refused';
  const { status, message } = expected;
  if (status !== undefined && status !== error.status)
    return `refused with ${error.status} (${error.reason}), not ${status}`;
  return message === undefined || isWordFor(message, error)
    ? undefined
    : `refused with ${error.reason}: ${error.message}`;
}

function checkChunks(output: Output, step: SendStep): string | undefined {
  const expected = step.expectChunks;
  if (!expected) return undefined;
  const chunks = output.chunks.filter((chunk) => isStreamed(step) || !isModelText(chunk));
  return chunks.length === expected.length
    ? findDifference(chunks, expected, 'chunks')
    : `${chunks.length} chunks, not ${expected.length}: ${JSON.stringify(chunks).slice(0, 300)}`;
}

function checkOutput(output: Output, step: SendStep): string | undefined {
  const { expectOutput: expected } = step;
  if (!expected) return undefined;
  const { message, finishReason, stateContains, errorContains } = expected;
  const { hasSnapshotId, hasSessionId } = expected;
  if (hasSnapshotId && output.snapshotId === undefined) return 'there is no turn';
  if (hasSessionId && output.state === undefined) return 'there is no conversation';
  if (expected.artifactsContain) return 'there are no artifacts';
  const difference =
    findDifference(output.finishReason, finishReason, 'finishReason') ??
    findDifference(output.message, message, 'message') ??
    findDifference(output.state, stateContains, 'state');
  return difference ?? (errorContains && checkError(output.error, errorContains));
}

/** Calls of the model and runs of tools so far. */
const countWork = ({ fakeGemini, toolRuns }: CaseWorld): number =>
  fakeGemini.journal().length + toolRuns.length;

/** Runs a step of the type send; what it gives later steps goes to `captured`. Returns what is not as expected. */
export async function runSend(
  adapter: Adapter,
  step: SendStep,
  captured: Map<string, unknown>,
): Promise<string | undefined> {
  const behaviour = orderBehaviour(adapter.world.fakeGemini, adapter.world.agent);
  if (behaviour !== undefined) adapter.world.translations.add(behaviour);
  const workBefore = countWork(adapter.world);
  const output = await runInputs(adapter, step).catch((error: unknown) => {
    if (error instanceof Refusal) return refused(error);
    throw error;
  });
  if (output.error && countWork(adapter.world) > workBefore)
    return `refused with ${output.error.reason}, but the model or a tool was called`;
  if (step.expectError) return checkError(output.error, step.expectError);
  const { captureSnapshotId, captureState, captureSessionId } = step;
  if (captureSnapshotId !== undefined) captured.set(captureSnapshotId, output.snapshotId);
  if (captureState !== undefined) captured.set(captureState, output.state);
  if (captureSessionId !== undefined) captured.set(captureSessionId, output.state?.sessionId);
  const isExpected = step.expectOutput?.errorContains !== undefined;
  if (output.error && !isExpected) return checkRefusal(output.error);
  return checkOutput(output, step) ?? checkChunks(output, step);
}

const checkRefusal = ({ status, reason, message }: Refusal) =>
  `refused with ${status} (${reason}): ${message}`;
