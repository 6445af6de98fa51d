import { z } from 'zod';

/* What an app has given to the calls of an answer, as the AI SDK keeps it: in the parts of the message. */

const type = z.string().regex(/^(dynamic-tool$|tool-)/);
const common = { type, toolCallId: z.string() };

const toolPart = z.discriminatedUnion('state', [
  z.looseObject({ ...common, state: z.literal('output-available'), output: z.unknown() }),
  z.looseObject({ ...common, state: z.literal('output-error'), errorText: z.string() }),
]);

/** Calls that the server ran, and outputs that are not the last word. */
const isForeign = (part: Record<string, unknown>) =>
  part['providerExecuted'] === true || part['preliminary'] === true;

/** An output, or why there is none. */
type UiToolOutput = { callId: string } & ({ output: unknown } | { error: string });

/** The outputs of the app among the parts of a UI message, in their order; of one call the last. */
export function uiToolOutputs(parts: unknown): UiToolOutput[] {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  const outputs = new Map<string, UiToolOutput>();
  for (const part of list) {
    const { data } = toolPart.safeParse(part);
    if (!data || isForeign(data)) continue;
    const callId = data.toolCallId;
    outputs.set(
      callId,
      data.state === 'output-error'
        ? { callId, error: data.errorText }
        : { callId, output: data.output },
    );
  }
  return [...outputs.values()];
}
