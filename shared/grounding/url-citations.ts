import type { Grounding } from './grounding.ts';

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
