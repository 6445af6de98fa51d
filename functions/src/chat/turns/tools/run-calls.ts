import { z } from 'zod';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { errorOfApp } from '#functions/lib/failure-reason.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import { type ToolCall, callKey } from '#shared/conversation/context/tool-calls.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { safeParse } from '#shared/lib/safe-parse.ts';
import {
  CALLS_AT_ONCE,
  type ToolResponse,
  errorResponse,
  failureResponse,
  responseBytes,
  storableResponse,
} from './tool-response.ts';
import type { ServerTool, ToolCallOrigin, Toolbox } from './toolbox.ts';

type RunDependencies = Pick<ChatDependencies, 'clock' | 'logger' | 'toolbox'>;

/** The calls of one round that this server answers, and whose they are. */
interface CallsToRun {
  calls: readonly ToolCall[];
  caller: Caller;
  conversationId: string;
  seq: number;
  /** Indexes of the calls that the user has allowed. */
  approved: readonly number[];
  /** Names that the model may call, for one who calls another. */
  declared: readonly string[];
  /** JSON bytes that all responses together may have. */
  roomBytes: number;
  /** Ends the tools that run; none begins after it. */
  signal: AbortSignal;
  /** Told of each response as it comes. */
  onResponse: (call: ToolCall, response: ToolResponse) => void;
}

/** What the responses of a round may still take. */
interface Room {
  bytes: number;
}

const unknownTool = ({ name }: ToolCall, declared: readonly string[]) =>
  errorResponse(
    declared.length === 0
      ? `There is no tool named ${name}; there are no tools.`
      : `There is no tool named ${name}. There are: ${declared.join(', ')}.`,
  );

const badArguments = (error: z.ZodError) =>
  errorResponse(`The arguments do not fit the tool's parameters: ${z.prettifyError(error)}`);

const timedOut = ({ timeoutMs }: ServerTool) =>
  errorResponse(`The tool did not answer within ${timeoutMs} ms.`);

/** Whether the user is asked before a call runs. Never throws: where a tool fails to say, the user is asked. */
export async function needsApproval(
  toolbox: Toolbox,
  { name, args }: ToolCall,
  origin: ToolCallOrigin,
): Promise<boolean> {
  const tool = toolbox.find(name);
  if (!tool?.needsApproval) return false;
  const parsed = safeParse(tool.parameters, args);
  if (!parsed.success) return false;
  try {
    return await tool.needsApproval(parsed.data, origin);
  } catch {
    return true;
  }
}

type Outcome = 'ok' | 'failed' | 'timeout' | 'unknown' | 'badArguments' | 'notJson' | 'tooLarge';

const aborted = (signal: AbortSignal): Promise<'aborted'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });

interface Ran {
  outcome: Outcome;
  response: ToolResponse;
  /** For the log. */
  failure?: ReturnType<typeof errorOfApp>;
}

/** What came of one call; undefined when the round was ended from outside. */
async function runTool(
  dependencies: RunDependencies,
  run: CallsToRun,
  { tool, call, room }: { tool: ServerTool; call: ToolCall; room: Room },
): Promise<Ran | undefined> {
  const parsed = safeParse(tool.parameters, call.args);
  if (!parsed.success) return { outcome: 'badArguments', response: badArguments(parsed.error) };
  const { caller, conversationId, seq } = run;
  const timeout = timeoutAfter(dependencies, tool.timeoutMs);
  const signal = AbortSignal.any([run.signal, timeout.signal]);
  const key = callKey(seq, call.index);
  const isApproved = run.approved.includes(call.index);
  const context = { caller, conversationId, seq, key, isApproved, signal };
  try {
    const running = Promise.resolve().then(() => tool.run(parsed.data, context));
    running.catch(() => undefined); // told below, unless the signal came first
    const value = await Promise.race([running, aborted(signal)]);
    if (run.signal.aborted) return undefined;
    if (timeout.signal.aborted) return { outcome: 'timeout', response: timedOut(tool) };
    const { response, fault } = storableResponse(value, room.bytes);
    return { outcome: fault ?? 'ok', response };
  } catch (error) {
    if (run.signal.aborted) return undefined;
    if (timeout.signal.aborted) return { outcome: 'timeout', response: timedOut(tool) };
    return { outcome: 'failed', response: failureResponse(error), failure: errorOfApp(error) };
  } finally {
    timeout.stop();
  }
}

async function runCall(
  dependencies: RunDependencies,
  run: CallsToRun,
  { call, room }: { call: ToolCall; room: Room },
): Promise<ToolResponse | undefined> {
  if (run.signal.aborted) return undefined;
  const startMs = dependencies.clock.now().getTime();
  const tool = dependencies.toolbox.find(call.name);
  const done: Ran | undefined = tool
    ? await runTool(dependencies, run, { tool, call, room })
    : { outcome: 'unknown' as const, response: unknownTool(call, run.declared) };
  if (!done) return undefined;
  dependencies.logger.log(done.outcome === 'ok' ? 'INFO' : 'WARNING', 'tool_called', {
    conversationId: run.conversationId,
    callKey: callKey(run.seq, call.index),
    tool: tool?.name,
    outcome: done.outcome,
    ...done.failure,
    durationMs: dependencies.clock.now().getTime() - startMs,
  });
  return done.response;
}

/**
 * Runs calls, five at a time, and returns their responses by index; none for those that `signal` broke off.
 * Never throws: whatever goes wrong in a tool is its response. A tool that does not heed its signal is left.
 */
export async function runCalls(
  dependencies: RunDependencies,
  run: CallsToRun,
): Promise<Map<number, ToolResponse>> {
  const responses = new Map<number, ToolResponse>();
  const room: Room = { bytes: run.roomBytes };
  await inParallel(run.calls, CALLS_AT_ONCE, async (call) => {
    const response = await runCall(dependencies, run, { call, room });
    if (response === undefined) return;
    room.bytes -= responseBytes(response);
    responses.set(call.index, response);
    run.onResponse(call, response);
  });
  return responses;
}
