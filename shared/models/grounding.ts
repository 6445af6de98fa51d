import { z } from 'zod';

/** Google's tools that a model may use by itself: Google Search, and reading the addresses that a message names. */
export const GROUNDING_TOOLS = ['search', 'url'] as const;
export type GroundingTool = (typeof GROUNDING_TOOLS)[number];

/** Sources that one answer keeps. */
export const SOURCES_MAX = 50;
/** UTF-16 units of their addresses and titles together: the turn's document holds them beside its texts. */
export const SOURCES_MAX_CHARACTERS = 32_768;
/** Places of an answer that one source keeps. */
export const SPANS_MAX = 5;
/** Queries that one answer keeps and is billed for. */
export const QUERIES_MAX = 20;
/** UTF-16 units of the address of a source; one that is longer is left out. */
export const URL_MAX_CHARACTERS = 2_048;
/** UTF-16 units of the title of a source, and of a query. */
export const TITLE_MAX_CHARACTERS = 200;
/** UTF-16 units of a passage that is looked for in the answer. */
export const CLAIM_MAX_CHARACTERS = 2_000;
/** Google's search suggestions, bytes; longer ones go, for half of an HTML text is none. */
export const SUGGESTIONS_MAX_BYTES = 16_384;

/** What a model reports that an answer rests on, as it was sent: nothing of it is bounded or checked. */
export interface GroundingReport {
  sources: readonly ReportedSource[];
  /** What was searched for. */
  queries: readonly string[];
  /** Google's search suggestions as HTML, which Google wants shown beside the answer. */
  suggestions?: string | undefined;
}

export interface ReportedSource {
  url: string;
  title?: string | undefined;
  /** Passages of the answer that it bears out. */
  claims: readonly ReportedClaim[];
}

export interface ReportedClaim {
  /** Word for word. */
  text: string;
  /** Where it begins in what the model said in this call, bytes of UTF-8; absent: nobody said. */
  startByte?: number | undefined;
}

/** A place in the text of an answer, UTF-16 units; `end` is not part of it. */
const spanSchema = z.object({
  start: z.number().int().nonnegative(),
  end: z.number().int().nonnegative(),
});

const sourceSchema = z.object({
  /** http or https. */
  url: z.string(),
  /** Somebody else's words. */
  title: z.string().optional(),
  /** What of the answer it bears out; absent: nobody said. */
  spans: z.array(spanSchema).optional(),
});
export type Source = z.infer<typeof sourceSchema>;

/** What an answer rests on, as it is stored with its turn. */
export const groundingSchema = z.object({
  sources: z.array(sourceSchema),
  queries: z.array(z.string()),
  suggestions: z.string().optional(),
});
export type Grounding = z.infer<typeof groundingSchema>;

/** A source of a folded turn, as a snapshot keeps it for the statements that it bears out. */
export const citationSchema = z.object({
  /** That of the source in stream and transcript: `s12.1`. */
  id: z.string(),
  seq: z.number().int().positive(),
  url: z.string(),
  title: z.string().optional(),
  /** What of the answer it bears out, word for word; none: nobody said, it is the whole answer. */
  claims: z.array(z.string()),
});
export type Citation = z.infer<typeof citationSchema>;

/** The id of a source of a turn, counted from 1; the same in stream, transcript and context. */
export const sourceId = (seq: number, index: number) => `s${seq}.${index + 1}`;
