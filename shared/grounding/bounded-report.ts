import { oneShortLine, cutHead } from '../text/cut.ts';
import {
  CLAIM_MAX_CHARACTERS,
  QUERIES_MAX,
  SOURCES_MAX,
  SOURCES_MAX_CHARACTERS,
  SPANS_MAX,
  SUGGESTIONS_MAX_BYTES,
  TITLE_MAX_CHARACTERS,
  URL_MAX_CHARACTERS,
  type GroundingReport,
  type ReportedSource,
} from '#shared/models/grounding.ts';

/** Turn a line around, or hide a part of it: a title could pass for another. */
const DIRECTION_MARKS = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** An address that a page may link to: http or https, without credentials; undefined for any other. */
function linkedUrl(text: string): string | undefined {
  if (text.length > URL_MAX_CHARACTERS || !text.isWellFormed() || !URL.canParse(text))
    return undefined;
  const { protocol, username, password, href } = new URL(text);
  const isLinked = protocol === 'https:' || protocol === 'http:';
  const hasCredentials = username !== '' || password !== '';
  return isLinked && !hasCredentials && href.length <= URL_MAX_CHARACTERS ? href : undefined;
}

/** Blanks and markup bear out nothing. */
const tells = /[\p{L}\p{N}]/u;

function boundedSource({ url, title = '', claims }: ReportedSource): ReportedSource[] {
  const linked = linkedUrl(url);
  if (linked === undefined) return [];
  const shown = oneShortLine(title.replaceAll(DIRECTION_MARKS, ''), TITLE_MAX_CHARACTERS);
  return [
    {
      url: linked,
      ...(shown !== '' && { title: shown }),
      claims: claims
        .filter(({ text }) => tells.test(text))
        .slice(0, SPANS_MAX)
        .map((claim) => ({ ...claim, text: cutHead(claim.text, CLAIM_MAX_CHARACTERS) })),
    },
  ];
}

/** Each address once, with all that was said of it. */
function united(sources: readonly ReportedSource[]): ReportedSource[] {
  const byUrl = new Map<string, ReportedSource>();
  for (const source of sources) {
    const known = byUrl.get(source.url);
    const byPlace = new Map(
      [...(known?.claims ?? []), ...source.claims].map((claim) => [
        `${claim.startByte} ${claim.text}`,
        claim,
      ]),
    );
    const claims = [...byPlace.values()].slice(0, SPANS_MAX);
    byUrl.set(source.url, { ...source, ...known, claims });
  }
  let left = SOURCES_MAX_CHARACTERS;
  return [...byUrl.values()].slice(0, SOURCES_MAX).filter(({ url, title = '' }) => {
    left -= url.length + title.length;
    return left >= 0;
  });
}

/**
 * Two reports of one answer as one, as it may be stored and shown: links that a page may follow, titles on one line,
 * each source and each query once, and no more of anything than the limits say. A stream may report in pieces, and say
 * the same twice.
 */
export function addReport(
  known: GroundingReport | undefined,
  report: GroundingReport,
): GroundingReport {
  const queries = report.queries
    .map((query) => oneShortLine(query, TITLE_MAX_CHARACTERS))
    .filter((query) => query !== '');
  const sent = report.suggestions ?? '';
  const isShown = sent !== '' && Buffer.byteLength(sent) <= SUGGESTIONS_MAX_BYTES;
  const suggestions = isShown ? sent.toWellFormed() : known?.suggestions;
  return {
    sources: united([...(known?.sources ?? []), ...report.sources.flatMap(boundedSource)]),
    queries: [...new Set([...(known?.queries ?? []), ...queries])].slice(0, QUERIES_MAX),
    ...(suggestions !== undefined && { suggestions }),
  };
}
