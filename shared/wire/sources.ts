import type { Turn } from '../conversation/documents/turn.ts';
import { sourceId, type Citation, type Grounding } from '#shared/models/grounding.ts';
import { z } from 'zod';

/** A source as clients of OpenAI read it: what of the text it bears out, UTF-16 units. */
export interface UrlCitation {
  url: string;
  title: string;
  start_index: number;
  end_index: number;
}

/**
 * The sources of a text that is the answer from `from` on, one citation for each passage that a source bears out. A
 * source of which nobody said what it bears out cites all of the text, for clients know no other.
 */
export function urlCitations(
  grounding: Grounding | undefined,
  { text, from = 0 }: { text: string; from?: number },
): UrlCitation[] {
  return (grounding?.sources ?? []).flatMap(({ url, title = new URL(url).host, spans }) =>
    (spans ?? [{ start: from, end: from + text.length }])
      .filter(({ start, end }) => start >= from && end <= from + text.length)
      .map(({ start, end }) => ({
        url,
        title,
        start_index: start - from,
        end_index: end - from,
      })),
  );
}

const sourceResponse = z.object({
  id: z.string().describe('s{seq}.{n}, also in the stream and in the snapshot.'),
  url: z.string().describe('http or https.'),
  title: z
    .string()
    .optional()
    .describe('Of the page, or its site: somebody else’s words, on one line.'),
  spans: z
    .array(z.object({ start: z.number().int(), end: z.number().int() }))
    .optional()
    .describe('What of the answer it bears out: places in its text, UTF-16 units.'),
});
/** A source of a folded turn, for the statements that it bears out. */
export const citationResponse = sourceResponse.omit({ spans: true });
type CitationView = z.infer<typeof citationResponse>;

export const citationView = ({ id, url, title }: Citation): CitationView => ({
  id,
  url,
  ...(title !== undefined && { title }),
});

type SourceView = z.infer<typeof sourceResponse>;

/** What Google wants shown beside an answer that it has searched for. */
export const searchedResponse = z
  .object({
    queries: z.array(z.string()),
    suggestions: z
      .string()
      .optional()
      .describe(
        'HTML of Google’s search suggestions, to be shown unchanged beside the answer. Others wrote it: show it in a sandboxed frame.',
      ),
  })
  .describe('What Google Search was asked for the answer.');
type SearchedView = z.infer<typeof searchedResponse>;

export const groundingFields = {
  sources: z.array(sourceResponse).optional().describe('What the answer rests on.'),
  searched: searchedResponse.optional(),
};

export const sourcesView = ({ seq, grounding }: Pick<Turn, 'seq' | 'grounding'>): SourceView[] =>
  (grounding?.sources ?? []).map((source, index) => ({ id: sourceId(seq, index), ...source }));

export function searchedView({ grounding }: Pick<Turn, 'grounding'>): SearchedView | undefined {
  const { queries = [], suggestions } = grounding ?? {};
  if (queries.length === 0 && suggestions === undefined) return undefined;
  return { queries, ...(suggestions !== undefined && { suggestions }) };
}

/** The fields of an answer; nothing of one that rests on no source. */
export function groundingView(turn: Pick<Turn, 'seq' | 'grounding'>): {
  sources?: SourceView[];
  searched?: SearchedView;
} {
  const sources = sourcesView(turn);
  const searched = searchedView(turn);
  return { ...(sources.length > 0 && { sources }), ...(searched && { searched }) };
}

/** Sources of a message as clients of OpenAI read them. */
export const annotationsResponse = z
  .array(
    z.object({
      type: z.literal('url_citation'),
      url_citation: z.object({
        url: z.string(),
        title: z.string().describe('Of the page, or its site: somebody else’s words.'),
        start_index: z.number().int().describe('UTF-16 units of the content.'),
        end_index: z.number().int(),
      }),
    }),
  )
  .optional()
  .describe('What the content rests on.');
