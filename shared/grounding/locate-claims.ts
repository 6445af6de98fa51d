import {
  QUERIES_MAX,
  SOURCES_MAX,
  SPANS_MAX,
  type Grounding,
  type GroundingReport,
  type ReportedClaim,
  type ReportedSource,
  type Source,
} from '#shared/models/grounding.ts';

/** Text that the model said in one call, and where it begins in the whole answer, UTF-16 units. */
interface Said {
  text: string;
  offset: number;
}

/** The UTF-16 units of a text before a byte of its UTF-8. */
const unitsBefore = (text: string, byte: number): number =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    new TextEncoder().encode(text).subarray(0, byte),
  ).length;

/**
 * Where a passage stands in a text; -1: nowhere, or nobody knows which of its places is meant. The words are sure.
 * Google's figure may count from a part that a stream has cut, and is asked only where the words stand more than once.
 */
function placeOf({ text: claim, startByte }: ReportedClaim, text: string): number {
  const first = text.indexOf(claim);
  if (first === -1 || !text.includes(claim, first + 1)) return first;
  const start = startByte === undefined ? -1 : unitsBefore(text, startByte);
  return start >= 0 && text.startsWith(claim, start) ? start : -1;
}

/** Where passages stand in a text. */
function spansIn({ text, offset }: Said, claims: readonly ReportedClaim[]) {
  return claims.flatMap((claim) => {
    const start = placeOf(claim, text);
    return start === -1 ? [] : [{ start: offset + start, end: offset + start + claim.text.length }];
  });
}

function located(said: Said, { url, title, claims }: ReportedSource): Source {
  const spans = spansIn(said, claims);
  return { url, ...(title !== undefined && { title }), ...(spans.length > 0 && { spans }) };
}

function united(sources: readonly Source[]): Source[] {
  const byUrl = new Map<string, Source>();
  for (const source of sources) {
    const known = byUrl.get(source.url);
    const byPlace = new Map(
      [...(known?.spans ?? []), ...(source.spans ?? [])].map((span) => [
        `${span.start} ${span.end}`,
        span,
      ]),
    );
    const spans = [...byPlace.values()].slice(0, SPANS_MAX);
    byUrl.set(source.url, { ...source, ...known, ...(spans.length > 0 && { spans }) });
  }
  return [...byUrl.values()].slice(0, SOURCES_MAX);
}

/** What an answer rests on once another call of the model has said something. The report is a bounded one. */
export function addGrounding(
  known: Grounding | undefined,
  report: GroundingReport | undefined,
  said: Said,
): Grounding | undefined {
  if (report === undefined) return known;
  const suggestions = report.suggestions ?? known?.suggestions;
  return {
    sources: united([
      ...(known?.sources ?? []),
      ...report.sources.map((source) => located(said, source)),
    ]),
    queries: [...new Set([...(known?.queries ?? []), ...report.queries])].slice(0, QUERIES_MAX),
    ...(suggestions !== undefined && { suggestions }),
  };
}

/** The same of the first `length` UTF-16 units of the answer: what bears out only later ones is left out. */
export function groundingWithin(
  grounding: Grounding | undefined,
  length: number,
): Grounding | undefined {
  if (grounding === undefined) return undefined;
  const sources = grounding.sources.flatMap((source) => {
    if (source.spans === undefined) return [source];
    const spans = source.spans.filter(({ end }) => end <= length);
    return spans.length === 0 ? [] : [{ ...source, spans }];
  });
  return { ...grounding, sources };
}
