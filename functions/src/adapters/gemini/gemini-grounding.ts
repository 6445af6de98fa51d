import { z } from 'zod';
import type {
  GroundingReport,
  ReportedClaim,
  ReportedSource,
} from '#shared/grounding/grounding.ts';

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
export const groundingFields = {
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
export function toGroundingReport({
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
