import { z } from 'zod';
import {
  lastQuestionIndex,
  type ModelRequestBody,
  type RequestPart,
  contentText,
} from '../server/request.ts';
import { textTokens } from './token-rule.ts';

/** A page of the made-up web. */
export const pageSchema = z.strictObject({ url: z.string(), title: z.string(), says: z.string() });
export type Page = z.infer<typeof pageSchema>;

/** What Google's tools gave: the answer, what its candidate says of its sources, and the tokens that the model read. */
export interface Grounded {
  parts: RequestPart[];
  metadata: object;
  toolTokens: number;
}

const toolSchema = z.looseObject({
  googleSearch: z.unknown().optional(),
  urlContext: z.unknown().optional(),
  functionDeclarations: z.array(z.unknown()).optional(),
});

/** Which kinds of tools a request has. */
export function toolKinds({ tools = [] }: ModelRequestBody) {
  const parsed = tools.map((tool) => toolSchema.safeParse(tool).data ?? {});
  return {
    canSearch: parsed.some(({ googleSearch }) => googleSearch !== undefined),
    canRead: parsed.some(({ urlContext }) => urlContext !== undefined),
    hasFunctions: parsed.some(({ functionDeclarations = [] }) => functionDeclarations.length > 0),
  };
}

const searchLine = /^search (\S.*)$/gm;
const address = /https?:\/\/\S+/g;
const MOST_ADDRESSES = 20;

/** What is found where a test has made no pages. */
const madeUp = (query: string): Page => ({
  url: `https://example.com/${encodeURIComponent(query)}`,
  title: 'example.com',
  says: `The web says of ${query} that it is so.`,
});

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The sentences of pages in a row, each with the page that bears it out, as `groundingSupports` have it. */
function supportsOf(pages: readonly Page[]) {
  let startIndex = 0;
  return pages.map(({ says }, index) => {
    const endIndex = startIndex + bytesOf(says);
    const support = {
      segment: { startIndex, endIndex, text: says },
      groundingChunkIndices: [index],
    };
    startIndex = endIndex + 1;
    return support;
  });
}

function foundBy(queries: readonly string[], web: readonly Page[]) {
  const pages = web.length > 0 ? web : queries.map(madeUp);
  return {
    pages,
    metadata: {
      webSearchQueries: queries,
      searchEntryPoint: { renderedContent: `<div class="chips">${queries.join(' ')}</div>` },
      groundingChunks: pages.map(({ url: uri, title }) => ({ web: { uri, title } })),
      groundingSupports: supportsOf(pages),
    },
  };
}

function readBy(urls: readonly string[], web: readonly Page[]) {
  const read = urls.map((url) => ({
    url,
    page: web.find((page) => page.url === url),
    isReached: !url.includes('unreachable'),
  }));
  return {
    texts: read
      .filter(({ isReached }) => isReached)
      .map(({ url, page }) => page?.says ?? `The page ${url} was read.`),
    metadata: {
      urlMetadata: read.map(({ url: retrievedUrl, isReached }) => ({
        retrievedUrl,
        urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${isReached ? 'SUCCESS' : 'ERROR'}`,
      })),
    },
  };
}

/** Beside functions the answer shows the calls of Google's tools, to be sent back within the turn. */
function shownCalls(body: ModelRequestBody, queries: readonly string[]): RequestPart[] {
  if (body.toolConfig?.['includeServerSideToolInvocations'] !== true) return [];
  const named = { id: 'search-1', toolType: 'GOOGLE_SEARCH_WEB' };
  return [
    { toolCall: { ...named, args: { queries } } },
    { toolResponse: { ...named, response: { search_suggestions: [] } } },
  ];
}

/**
 * What a model does that takes orders and has Google's tools: a message with lines `search …` makes it search, and it
 * says what the pages say; addresses in a message make it read them. `undefined` where there is nothing to do.
 */
export function ground(body: ModelRequestBody, web: readonly Page[]): Grounded | undefined {
  const contents = body.contents ?? [];
  const asked = contentText(contents[lastQuestionIndex(contents)]);
  const { canSearch, canRead } = toolKinds(body);
  const queries = canSearch ? [...asked.matchAll(searchLine)].map(([, query = '']) => query) : [];
  const urls = canRead
    ? [...asked.matchAll(address)].slice(0, MOST_ADDRESSES).map(([url]) => url)
    : [];
  if (queries.length === 0 && urls.length === 0) return undefined;
  const found = queries.length > 0 ? foundBy(queries, web) : undefined;
  const read = urls.length > 0 ? readBy(urls, web) : undefined;
  const texts = [...(found?.pages.map(({ says }) => says) ?? []), ...(read?.texts ?? [])];
  return {
    parts: [...(found ? shownCalls(body, queries) : []), { text: texts.join('\n') || 'Nothing.' }],
    metadata: {
      ...(found && { groundingMetadata: found.metadata }),
      ...(read && { urlContextMetadata: read.metadata }),
    },
    toolTokens: textTokens(read?.texts.join('\n') ?? ''),
  };
}
