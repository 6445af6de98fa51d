import type { ModelEntry, ModelGrounding, ModelPrice } from './model-entry.ts';

/**
 * The day on which the table was last compared with what is known of Google's pages. Copies and transcriptions of them
 * were read, so each origin says of which day its figures are.
 */
export const VERIFIED_ON = '2026-11-28';

export interface RegistryEntry extends ModelEntry {
  /** Where the figures come from, and of which day they are. */
  origin: string;
}

const deprecations = 'ai.google.dev/gemini-api/docs/deprecations';
const pricing = 'ai.google.dev/gemini-api/docs/pricing';
const lifecycle = 'docs.cloud.google.com/gemini-enterprise-agent-platform/models/model-versions';
const guides = 'docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides';
const changelog = 'ai.google.dev/gemini-api/docs/changelog';

/** Window, for prompt, thoughts and answer together, and longest answer of one call to every text model since Gemini 2.5. */
const million = { windowTokens: 1_048_576, outputTokens: 65_536 };

/**
 * Google's own tools. Beside functions since Gemini 3 (ai.google.dev/gemini-api/docs/tool-combination). Prices: the page
 * of prices as of September 2026, without what is free (5,000 calls a month, 1,500 a day of 2.5): no request says how much
 * of that is left.
 */
const groundingSince3: ModelGrounding = { withFunctions: true, searchUsd: 14, searchUnit: 'query' };
const groundingBefore3: ModelGrounding = {
  withFunctions: false,
  searchUsd: 35,
  searchUnit: 'call',
};
/**
 * Files of one prompt: cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/2-5-pro and …/3-pro. The Gemini API
 * names the same ten videos.
 */
const filesSince3 = { image: 900, video: 10, document: 900 };
const filesBefore3 = { image: 3_000, video: 10, document: 3_000 };
/**
 * Every text model since Gemini 3. Where implicit caching begins: ai.google.dev/gemini-api/docs/caching of 2026-10-13,
 * which names 2.5 Flash and Pro, 3.1 Pro and every Flash since 3.5.
 */
const third = {
  ...million,
  promptFiles: filesSince3,
  cacheFromTokens: 4_096,
  grounding: groundingSince3,
};
const second = {
  ...million,
  promptFiles: filesBefore3,
  cacheFromTokens: 2_048,
  grounding: groundingBefore3,
};

const pro: ModelPrice = {
  input: 2,
  cached: 0.2,
  output: 12,
  above: { promptTokens: 200_000, input: 4, cached: 0.4, output: 18 },
};
const flash: ModelPrice = { input: 1.5, cached: 0.15, output: 7.5 };
const introductoryFlash: ModelPrice = { input: 0.75, cached: 0.075, output: 3.75 };
const lite: ModelPrice = { input: 0.3, cached: 0.03, output: 2.5 };

/** The introductory price of 3.6, 3.7 and 3.8 Flash ends with the year. */
const fromNewYear = { from: '2027-01-01', rates: flash };

const introductoryFourth: ModelPrice = { input: 2, cached: 0.1, output: 10 };
/** The introductory price of 4 Argon and 4 Carbon ends with November. */
const fromDecember = { from: '2026-12-01', rates: { input: 4, cached: 0.2, output: 20 } };

const current: Readonly<Record<string, RegistryEntry>> = {
  'gemini-4-neon': {
    ...third,
    prices: [{ from: '2026-11-18', rates: { input: 3, cached: 0.15, output: 15 } }],
    origin: `prices: transcriptions of ${pricing}, 2026-11-22; limits: apidog.com/blog/gemini-4-neon-api of 2026-11-19; where caching begins: not found, taken as of 4 Hydrogen; no shutdown date found`,
  },
  'gemini-4-hydrogen': {
    ...third,
    prices: [{ from: '2026-11-12', rates: { input: 1.5, cached: 0.075, output: 7.5 } }],
    origin: `prices: transcriptions of ${pricing}, 2026-11-16; limits, caching: ${guides}/gemini-4-hydrogen; no shutdown date found, on Vertex AI with a notice of 45 days`,
  },
  'gemini-4-carbon': {
    ...third,
    prices: [{ from: '2026-11-10', rates: introductoryFourth }, fromDecember],
    origin: `prices, limits, caching: transcriptions of ${pricing} and of the page on caching, 2026-11-16; no shutdown date found`,
  },
  'gemini-4-argon': {
    ...third,
    cacheFromTokens: 6_144,
    prices: [{ from: '2026-10-13', rates: introductoryFourth }, fromDecember],
    origin: `prices: ai.google.dev/gemini-api/docs/latest-model of October 2026, cached: transcriptions of ${pricing}; limits, caching: ${guides}/gemini-4-argon (the Gemini API’s page on caching says 4,096); Vertex AI: not before 2027-10-13`,
  },
  'gemini-3.8-flash': {
    ...third,
    prices: [{ from: '2026-09-02', rates: introductoryFlash }, fromNewYear],
    origin: `prices: ${pricing} of 2026-10-07; limits: its model page of 2026-09-02; no shutdown date: ${deprecations} of September 2026`,
  },
  'gemini-3.7-flash': {
    ...third,
    prices: [{ from: '2026-08-13', rates: introductoryFlash }, fromNewYear],
    retirement: { geminiApi: '2026-10-08', successor: 'gemini-3.8-flash' },
    origin: `prices: ${pricing} of 2026-09-06; limits: its developer guide; routed to its successor: ${changelog} of 2026-10-08; Vertex AI: no day found`,
  },
  'gemini-3.6-flash': {
    ...third,
    prices: [
      { from: '2026-07-21', rates: flash },
      { from: '2026-08-13', rates: introductoryFlash },
      fromNewYear,
    ],
    origin: `prices: ${pricing} of 2026-07-21 and 2026-08-24; no shutdown date: ${deprecations} of September 2026`,
  },
  'gemini-3.5-flash': {
    ...third,
    prices: [{ from: '2026-05-19', rates: { input: 1.5, cached: 0.15, output: 9 } }],
    retirement: { geminiApi: '2026-10-08', successor: 'gemini-3.6-flash' },
    origin: `prices: ${pricing} of 2026-10-07, cached of May 2026; routed to its successor: ${changelog} of 2026-10-08; Vertex AI: not before 2027-05-19`,
  },
  'gemini-3.5-flash-lite': {
    ...third,
    prices: [{ from: '2026-07-21', rates: lite }],
    origin: `prices: ${pricing} of 2026-10-07, cached of 2026-07-21; no shutdown date: ${deprecations} of September 2026; Vertex AI: not before 2027-07-21`,
  },
  'gemini-3.1-pro': {
    ...third,
    prices: [{ from: '2026-02-19', rates: pro }],
    origin: `prices: ${pricing} of 2026-10-07, cached of July 2026; no shutdown date: ${deprecations} of September 2026`,
  },
  'gemini-3.1-flash-lite': {
    ...third,
    prices: [{ from: '2026-03-03', rates: { input: 0.25, cached: 0.025, output: 1.5 } }],
    retirement: { geminiApi: '2027-05-07', successor: 'gemini-3.5-flash-lite' },
    origin: `prices: ${pricing} of May 2026; shutdown: ${deprecations} of September 2026, the earliest day; Vertex AI: not before 2027-05-07`,
  },
  'gemini-3-flash': {
    ...third,
    prices: [{ from: '2025-12-17', rates: { input: 0.5, cached: 0.05, output: 3 } }],
    origin: `prices: ${pricing} of 2026-07-04; no shutdown date: ${deprecations} of July 2026`,
  },
  'gemini-2.5-pro': {
    ...second,
    prices: [
      {
        from: '2025-06-17',
        rates: {
          input: 1.25,
          cached: 0.125,
          output: 10,
          above: { promptTokens: 200_000, input: 2.5, cached: 0.25, output: 15 },
        },
      },
    ],
    retirement: {
      geminiApi: '2026-12-01',
      vertex: '2026-10-20',
      successor: 'gemini-3.8-flash',
    },
    origin: `prices: ${pricing}, input of 2026-10-07, others of July 2026; shutdown: ${deprecations} of 2026-11-10; Vertex AI: Google's notice of 2026-07-29`,
  },
  'gemini-2.5-flash': {
    ...second,
    prices: [{ from: '2025-06-17', rates: lite }],
    retirement: {
      geminiApi: '2026-12-01',
      vertex: '2026-10-20',
      successor: 'gemini-3.5-flash-lite',
    },
    origin: `prices: ${pricing}, input of 2026-10-07, others of July 2026; shutdown: ${deprecations} of 2026-11-10; Vertex AI: Google's notice of 2026-07-29`,
  },
  'gemini-2.5-flash-lite': {
    ...second,
    prices: [{ from: '2025-07-22', rates: { input: 0.1, cached: 0.01, output: 0.4 } }],
    retirement: { vertex: '2026-10-20', successor: 'gemini-3.5-flash-lite' },
    origin: `prices: ${pricing}, output of 2026-10-07, others of July 2026; not deprecated: ${deprecations} of 2026-11-10; Vertex AI: Google's notice of 2026-07-29; successor: ${lifecycle}`,
  },
};

/** Aliases that Google moves from model to model. */
const aliases: Readonly<Record<string, RegistryEntry>> = {
  'gemini-flash-latest': {
    ...third,
    prices: [{ from: '2026-08-13', rates: introductoryFlash }, fromNewYear],
    origin: 'was 3.7 Flash on 2026-08-27; later: not found (3.8 Flash costs the same)',
  },
  'gemini-flash-lite-latest': {
    ...third,
    prices: [{ from: '2026-07-21', rates: lite }],
    origin: 'which model it is: not found; priced as 3.5 Flash-Lite, the dearest of the line',
  },
  'gemini-pro-latest': {
    ...third,
    prices: [{ from: '2026-03-06', rates: pro }],
    origin: 'is 3.1 Pro since 2026-03-06; later: not found',
  },
};

const retired = (geminiApi: string, successor: string) => ({
  ...million,
  retirement: { geminiApi, vertex: geminiApi, successor },
});

/** Models that are shut down: their successors are called, so nothing is billed at a price of theirs. */
const shutDown: Readonly<Record<string, RegistryEntry>> = {
  'gemini-3-pro': {
    ...retired('2026-03-09', 'gemini-3.1-pro-preview'),
    prices: [{ from: '2025-11-18', rates: pro }],
    origin: `${deprecations} of March 2026; prices: ${pricing} of February 2026`,
  },
  'gemini-3.1-flash-lite-preview': {
    ...retired('2026-05-25', 'gemini-3.1-flash-lite'),
    origin: `${deprecations} of July 2026; Vertex AI: day not found`,
  },
  'gemini-2.5-pro-preview': {
    ...retired('2025-12-02', 'gemini-3.1-pro-preview'),
    origin: `${deprecations} of March 2026; Vertex AI: day not found`,
  },
  'gemini-2.5-flash-preview': {
    ...retired('2026-02-17', 'gemini-2.5-flash'),
    origin:
      'release notes of the Gemini API, 2026-02-17; successor: the stable model; Vertex AI: day not found',
  },
  'gemini-2.5-flash-lite-preview': {
    ...retired('2026-03-31', 'gemini-2.5-flash-lite'),
    origin: 'github.com/karthink/gptel/pull/1532 of 2026-09-02; Vertex AI: day not found',
  },
  'gemini-2.0-flash': {
    ...retired('2026-06-01', 'gemini-3.1-flash-lite'),
    outputTokens: 8_192,
    origin: `${deprecations} of 2026-02-18; successor: firebase.google.com/docs/ai-logic of 2026-05-13`,
  },
  'gemini-2.0-flash-lite': {
    ...retired('2026-06-01', 'gemini-3.1-flash-lite'),
    outputTokens: 8_192,
    origin: `${deprecations} of 2026-02-18; successor: firebase.google.com/docs/ai-logic of 2026-05-13`,
  },
  'gemini-1.5-pro': {
    ...retired('2025-09-24', 'gemini-2.0-flash'),
    windowTokens: 2_097_152,
    outputTokens: undefined,
    origin: `${lifecycle} of 2025; successor and longest answer: not found`,
  },
  'gemini-1.5-flash': {
    ...retired('2025-09-24', 'gemini-2.0-flash-lite'),
    outputTokens: undefined,
    origin: `${lifecycle} of 2025; longest answer: not found`,
  },
};

/**
 * Implicit caching begins with Gemini 2.5: each prompt is read anew, so that long ones cost all the more, and the fraction
 * binds in windows of 32,768 tokens and less. Recorded conversations without a cache (`npm run cost -- --data`): four of
 * chats cost 1.6 × the cheapest threshold at 12,000, two of coding 1.5 and 1.8 × at 16,000, 2.0 and 2.4 × at 24,000.
 */
const uncached: ModelEntry['thresholds'] = {
  assistant: { thresholdFraction: 0.25, thresholdTokens: 12_000 },
  coding: { thresholdFraction: 0.25, thresholdTokens: 16_000 },
};

/** An open model: only its window is known. */
const openModel = (windowTokens: number, source: string): RegistryEntry => ({
  windowTokens,
  thresholds: uncached,
  origin: `${source}; prices: the paid tier of the Gemini API has none`,
});

const gemma: Readonly<Record<string, RegistryEntry>> = {
  'gemma-4-31b*': openModel(256_000, 'Gemini CLI #25604'),
  'gemma-4-26b*': openModel(256_000, 'Gemini CLI #25604'),
  'gemma-3-*': openModel(131_072, 'model card of 4B, 12B and 27B'),
  'gemma-3-270m*': openModel(32_768, 'model card'),
  'gemma-3-1b*': openModel(32_768, 'model card'),
  'gemma-3n*': openModel(32_768, 'model card'),
  'gemma-2*': openModel(8_192, 'model cards of Gemma 1 and 2'),
};

/**
 * Every model that a deployment may name, and the one place where any is added. Prices are those of text, standard
 * calls of the paid tier. What the document `config/compaction` says of a model wins over this table.
 */
export const modelRegistry: Readonly<Record<string, RegistryEntry>> = {
  ...current,
  ...aliases,
  ...shutDown,
  ...gemma,
};
