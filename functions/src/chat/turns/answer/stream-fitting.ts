import { type Part, contentText } from '#shared/models/content.ts';
import { withoutServerCalls } from '#shared/conversation/context/tool-calls.ts';
import { AppError } from '#shared/lib/errors.ts';
import { findMisfit } from '#shared/lib/json-schema.ts';
import { loopKind } from '#shared/conversation/call-loop.ts';
import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { ModelRequest, ModelUsage } from '#shared/ports/ports.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import { type Answer, type AnswerCall, isShown, streamAnswer } from './stream-answer.ts';

type Schema = NonNullable<AnswerOptions['responseSchema']>;

/** An answer. `misfitUsage`: of a first call whose answer did not fit. */
export type FittingAnswer = Answer & { misfitUsage?: ModelUsage | undefined };

/** `calls`: how often the model was asked. */
function unmetError(
  misfit: string,
  { finishReason, calls }: { finishReason: string | undefined; calls: number },
) {
  const publicMessage = () => {
    if (toFinishReason(finishReason) === 'length')
      return 'The answer reached the limit of its length before its JSON was complete. Ask for less in a new message, or allow more tokens.';
    if (loopKind(finishReason))
      return 'The answer repeated itself without end before its JSON was complete. Say in a new message what belongs in it.';
    const second = calls > 1 ? ', and neither did a second one' : '';
    return `The answer does not fit \`responseSchema\`${second}. ${misfit} Make the schema simpler or say in the message what belongs in it, and send it as a new message.`;
  };
  return new AppError({
    reason: 'RESPONSE_SCHEMA_UNMET',
    publicMessage: publicMessage(),
  });
}

/** What of an answer does not fit, as sentences; undefined: it is JSON that fits. */
function misfitOf(schema: Schema, { parts }: Answer): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(contentText({ role: 'model', parts }));
  } catch {
    return 'It is not JSON.';
  }
  return findMisfit(schema, value);
}

/** Asks once more, with the answer that did not fit and what is wrong with it. Tools are left out: older models take no schema beside them. */
function repairRequest(request: ModelRequest, { parts }: Answer, misfit: string): ModelRequest {
  const { tools: _, toolChoice: __, grounding: ___, ...rest } = request;
  const text = `Your answer does not fit the required JSON Schema. ${misfit} Answer again, with JSON that fits this schema and with nothing else: ${JSON.stringify(request.responseJsonSchema)}`;
  return {
    ...rest,
    contents: [
      ...request.contents,
      ...withoutServerCalls([{ role: 'model', parts }]),
      { role: 'user', parts: [{ text }] },
    ],
  };
}

/** Shows a whole answer as one text. */
function show({ emit, partId: id }: AnswerCall, { parts }: Answer): void {
  const delta = parts
    .filter(isShown)
    .map((part) => part.text)
    .join('');
  if (delta === '') return;
  emit({ type: 'text-start', id });
  emit({ type: 'text-delta', id, delta });
  emit({ type: 'text-end', id });
}

/** Without the text that a model says beside its calls: it would stand before the JSON. Its signatures are kept. */
const withoutRemarks = (parts: readonly Part[]): Part[] =>
  parts.flatMap((part) => {
    if (!isShown(part)) return [part];
    return part.thoughtSignature === undefined ? [] : [{ ...part, text: '' }];
  });

/**
 * Models up to 2.5 take no schema beside tools: their first call has none, and a second one asks for JSON that fits.
 */
const withoutSchemaBesideTools = (request: ModelRequest): ModelRequest => {
  const isEither = /\bgemini-[12]\b/.test(request.model) && (request.tools ?? []).length > 0;
  return isEither ? { ...request, responseJsonSchema: undefined } : request;
};

/**
 * Calls the model for an answer that fits `schema`. Emits nothing before the answer fits, so that a reader can parse
 * its text. Calls the model once more where it does not fit. Never throws: where the second answer does not fit either,
 * the answer is RESPONSE_SCHEMA_UNMET, without text.
 */
export async function streamFitting(
  dependencies: Parameters<typeof streamAnswer>[0],
  call: AnswerCall,
  schema: Schema,
): Promise<FittingAnswer> {
  const request = { ...call.request, responseJsonSchema: schema };
  const silent = { ...call, emit: () => undefined };
  const first = await streamAnswer(dependencies, {
    ...silent,
    request: withoutSchemaBesideTools(request),
  });
  if (first.error) return { ...first, parts: [] };
  if (first.parts.some(({ functionCall }) => functionCall !== undefined))
    return { ...first, parts: withoutRemarks(first.parts) };
  if (toFinishReason(first.finishReason) === 'content-filter') return { ...first, parts: [] };
  const misfit = misfitOf(schema, first);
  if (misfit === undefined) {
    show(call, first);
    return first;
  }
  const unmet = (answer: FittingAnswer, calls: number, still: string) => ({
    ...answer,
    parts: [],
    error: answer.error ?? unmetError(still, { finishReason: answer.finishReason, calls }),
  });
  if (toFinishReason(first.finishReason) !== 'stop') return unmet(first, 1, misfit);
  const repair = repairRequest(request, first, misfit);
  const second = await streamAnswer(dependencies, { ...silent, request: repair });
  const { grounding } = first;
  const answer = {
    ...(grounding && { grounding }),
    ...second,
    misfitUsage: first.usage,
    isUnreported: first.isUnreported === true || second.isUnreported === true,
  };
  const still = second.error ? misfit : misfitOf(schema, second);
  if (still !== undefined) return unmet(answer, 2, still);
  show(call, answer);
  return answer;
}
