import { isPlainText, partSchema, type Part } from '#shared/models/content.ts';
import { readFields } from '#shared/conversation/documents/read-document.ts';
import type { ModelResponse, ModelUsage } from '#shared/ports/ports.ts';
import { type ModelCall, overloadedError } from '../model-errors.ts';
import { z } from 'zod';
import type { GroundingReport, ReportedClaim, ReportedSource } from '#shared/models/grounding.ts';

/* What Google's tools found, as candidates of Gemini say it. What cannot be read of it is left out: no answer fails for it. */

const text = z.string().optional().catch(undefined);

const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item.optional().catch(undefined))
    .optional()
    .catch(undefined)
    .transform((items = []) => items);

const segmentSchema = z.object({
  text: z.string(),
  /** Bytes of UTF-8 in a part. A zero is left out; below it: unreadable. */
  startIndex: z.number().default(0).catch(-1),
  partIndex: z.number().default(0).catch(-1),
});
type Segment = z.infer<typeof segmentSchema>;

/** Sources are named by their places: one that cannot be read keeps its own. */
const groundingMetadataSchema = z.object({
  groundingChunks: listOf(z.object({ web: z.object({ uri: z.string(), title: text }).optional() })),
  groundingSupports: listOf(
    z.object({
      segment: segmentSchema,
      groundingChunkIndices: z.array(z.number().int()),
    }),
  ),
  webSearchQueries: listOf(z.string()),
  searchEntryPoint: z.object({ renderedContent: text }).optional().catch(undefined),
});

const READ = 'URL_RETRIEVAL_STATUS_SUCCESS';

const urlContextMetadataSchema = z.object({
  urlMetadata: listOf(z.object({ retrievedUrl: z.string(), urlRetrievalStatus: z.string() })),
});

/** The two fields of a candidate. */
const groundingFields = {
  groundingMetadata: groundingMetadataSchema.optional().catch(undefined),
  urlContextMetadata: urlContextMetadataSchema.optional().catch(undefined),
};
type GroundedCandidate = {
  [Field in keyof typeof groundingFields]?: z.infer<(typeof groundingFields)[Field]>;
};

const isThere = <T>(item: T | undefined): item is T => item !== undefined;

/** Where a later part begins nobody knows once a stream has cut the answer into pieces. */
const toClaim = ({ text: passage, startIndex, partIndex }: Segment): ReportedClaim => ({
  text: passage,
  ...(partIndex === 0 && startIndex >= 0 && { startByte: startIndex }),
});

function foundSources(metadata: GroundedCandidate['groundingMetadata']): ReportedSource[] {
  const supports = (metadata?.groundingSupports ?? []).filter(isThere);
  return (metadata?.groundingChunks ?? []).flatMap((chunk, index) => {
    if (!chunk?.web) return [];
    const { uri: url, title } = chunk.web;
    const claims = supports
      .filter(({ groundingChunkIndices }) => groundingChunkIndices.includes(index))
      .map(({ segment }) => toClaim(segment));
    return [{ url, title, claims }];
  });
}

/** Pages that were read because the message names them; Google says no title of these. */
const readSources = (metadata: GroundedCandidate['urlContextMetadata']): ReportedSource[] =>
  (metadata?.urlMetadata ?? [])
    .filter(isThere)
    .filter(({ urlRetrievalStatus }) => urlRetrievalStatus === READ)
    .map(({ retrievedUrl }) => ({ url: retrievedUrl, claims: [] }));

/** What a candidate reports of its sources; undefined where it reports none and no search. */
function toGroundingReport({
  groundingMetadata,
  urlContextMetadata,
}: GroundedCandidate): GroundingReport | undefined {
  if (!groundingMetadata && !urlContextMetadata) return undefined;
  const sources = [...foundSources(groundingMetadata), ...readSources(urlContextMetadata)];
  const queries = (groundingMetadata?.webSearchQueries ?? []).filter(isThere);
  const suggestions = groundingMetadata?.searchEntryPoint?.renderedContent;
  if (sources.length === 0 && queries.length === 0 && suggestions === undefined) return undefined;
  return { sources, queries, ...(suggestions !== undefined && { suggestions }) };
}

/** A figure that is none says nothing. */
const count = z.number().optional().catch(undefined);

const usageFields = {
  initialPromptTokenCount: count,
  promptTokenCount: count,
  cachedContentTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  toolUsePromptTokenCount: count,
};
const counts = Object.keys(usageFields);
const isCount = (value: unknown) => value === undefined || Number.isFinite(value);

/** Why an answer ended or a prompt was refused, in the API's words; what is no word is some other reason. */
const reason = z.string().nullish().catch('OTHER');

/** Servers that write every field send one of these on each event: it tells of no end. */
const givenReason = (sent: string | null | undefined): string | undefined =>
  !sent || sent.endsWith('_UNSPECIFIED') ? undefined : sent;

const responseSchema = z.object({
  candidates: z
    .array(
      z.object({
        content: z.object({ parts: z.unknown().optional() }).optional().catch(undefined),
        finishReason: reason,
        ...groundingFields,
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: reason }).optional().catch(undefined),
  usageMetadata: z.object(usageFields).optional().catch(undefined),
});

type GeminiResponse = z.infer<typeof responseSchema>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether an event of a stream is what almost all are: one candidate with parts, perhaps with figures. The schema would
 * give the same of it, and takes more than all else that is done with an event.
 */
function isPlain(sent: unknown): sent is GeminiResponse {
  if (!isObject(sent) || 'promptFeedback' in sent || !Array.isArray(sent.candidates)) return false;
  const [candidate, ...others]: unknown[] = sent.candidates;
  if (!isObject(candidate) || others.length > 0) return false;
  const { content, finishReason = '' } = candidate;
  const hasSources = 'groundingMetadata' in candidate || 'urlContextMetadata' in candidate;
  const { usageMetadata = {} } = sent;
  return (
    isObject(content) &&
    (finishReason === null || typeof finishReason === 'string') &&
    !hasSources &&
    isObject(usageMetadata) &&
    counts.every((name) => isCount(usageMetadata[name]))
  );
}

const recordSchema = z.record(z.string(), z.unknown());

/** A model makes its arguments up: those that are no object stand in one, and the tool refuses them. */
function withObjectAsArguments(part: Record<string, unknown>): Record<string, unknown> {
  const call = recordSchema.safeParse(part['functionCall']).data;
  const args = call?.['args'];
  if (args === undefined || recordSchema.safeParse(args).success) return part;
  return { ...part, functionCall: { ...call, args: args === null ? {} : { value: args } } };
}

/** What can be read of one part; nothing of what is none. */
function readablePart(raw: unknown): Part[] {
  if (isPlainText(raw)) return [raw];
  const read = partSchema.safeParse(raw);
  if (read.success) return [read.data];
  const { data: record } = recordSchema.safeParse(raw);
  if (!record) return [];
  const { value } = readFields(partSchema, withObjectAsArguments(record));
  return value ? [value] : [];
}

/** Prompt tokens are those of the first hop where the API tells them apart; thoughts stand on their own. */
function toUsage(response: GeminiResponse): ModelUsage | undefined {
  const usage = response.usageMetadata;
  const promptTokens = usage?.initialPromptTokenCount ?? usage?.promptTokenCount;
  if (usage === undefined || promptTokens === undefined) return undefined;
  const toolTokens = usage.toolUsePromptTokenCount ?? 0;
  return {
    promptTokens,
    cachedTokens: usage.cachedContentTokenCount ?? 0,
    outputTokens: usage.candidatesTokenCount ?? 0,
    thoughtsTokens: usage.thoughtsTokenCount ?? 0,
    ...(toolTokens > 0 && { toolTokens }),
  };
}

/**
 * The first candidate of a response or stream event as it was sent, its parts untouched as far as they can be read. A
 * blocked prompt has `blockReason` and no parts. Throws MODEL_OVERLOADED for another shape.
 */
export function toModelResponse(call: ModelCall, sent: unknown): ModelResponse {
  const response = isPlain(sent) ? sent : responseSchema.safeParse(sent).data;
  if (!response) throw overloadedError(call, 'the answer has another shape');
  const candidate = response.candidates?.[0];
  const parts: unknown = candidate?.content?.parts;
  const finishReason = givenReason(candidate?.finishReason);
  const blockReason = givenReason(response.promptFeedback?.blockReason);
  const usage = toUsage(response);
  const grounding = candidate && toGroundingReport(candidate);
  return {
    parts: Array.isArray(parts) ? parts.flatMap(readablePart) : [],
    ...(finishReason !== undefined && { finishReason }),
    ...(blockReason !== undefined && { blockReason }),
    ...(usage !== undefined && { usage }),
    ...(grounding !== undefined && { grounding }),
  };
}

/** Whether an answer is over: it says why, or the prompt was refused. */
export function isFinal(response: ModelResponse): boolean {
  return response.finishReason !== undefined || response.blockReason !== undefined;
}
