import type { ConstantTable } from './constant.ts';

const measured =
  'measured on 213 answers of Gemini models from ten tokens on: within 20 % of the reported count for 93 % (0.25 / 1.3: 58 %); JSON of tool declarations comes out too high, up to double';
const peer = 'Gemini CLI';
const choosesRule = 'policy setting `tokenRule`';

/** Numbers of the estimate. Weights are hundredths of a token so that sums stay exact. */
export const tokenConstants = {
  letterOrSpaceWeight: {
    value: 20,
    unit: '1/100 token per ASCII letter or space',
    origin: measured,
    configure: choosesRule,
  },
  digitWeight: {
    value: 100,
    unit: '1/100 token per ASCII digit',
    origin: measured,
    configure: choosesRule,
  },
  otherAsciiWeight: {
    value: 60,
    unit: '1/100 token per other ASCII character',
    origin: measured,
    configure: choosesRule,
  },
  otherCodePointWeight: {
    value: 130,
    unit: '1/100 token per code point',
    origin: measured,
    configure: choosesRule,
  },
  peerAsciiWeight: {
    value: 25,
    unit: '1/100 token per ASCII character',
    origin: `${peer} before #26073, rule \`gemini-cli\``,
    configure: choosesRule,
  },
  peerOtherWeight: {
    value: 130,
    unit: '1/100 token per code point',
    origin: `${peer} before #26073, rule \`gemini-cli\``,
    configure: choosesRule,
  },
  peerImageTokens: {
    value: 3_000,
    unit: 'tokens per image',
    origin: `${peer}, rule \`gemini-cli\``,
    configure: choosesRule,
  },
  peerPdfTokens: {
    value: 25_800,
    unit: 'tokens per PDF',
    origin: `${peer}, rule \`gemini-cli\`: 100 pages`,
    configure: choosesRule,
  },
  imageTokens: {
    value: 258,
    unit: 'tokens per image, up to Gemini 2.5',
    origin: 'Gemini API documentation: one tile',
    configure: 'model family',
  },
  imageTokensGemini3: {
    value: 1_090,
    unit: 'tokens per image, Gemini 3',
    origin: 'counts that servers reported',
    configure: 'model family',
  },
  pdfTokens: {
    value: 2_580,
    unit: 'tokens per PDF',
    origin: '258 a page × 10 pages: the pages cannot be seen in the encoded bytes',
    configure: 'fixed',
  },
  audioTokens: {
    value: 1_920,
    unit: 'tokens per audio part, up to Gemini 2.5',
    origin: '32 a second × 60 s: the length cannot be seen in the encoded bytes',
    configure: 'model family',
  },
  audioTokensGemini3: {
    value: 1_500,
    unit: 'tokens per audio part, Gemini 3',
    origin: '25 a second × 60 s',
    configure: 'model family',
  },
  videoTokens: {
    value: 15_780,
    unit: 'tokens per video part, up to Gemini 2.5',
    origin: '263 a second × 60 s',
    configure: 'model family',
  },
  videoTokensGemini3: {
    value: 3_840,
    unit: 'tokens per video part, Gemini 3',
    origin: '64 a second × 60 s',
    configure: 'model family',
  },
  inlineBytesWeight: {
    value: 35,
    unit: '1/100 token per byte of any other inline file',
    origin: 'between English (0.2) and Chinese, Japanese or Korean (0.43) text in UTF-8',
    configure: 'fixed',
  },
  nestedPartDepth: {
    value: 3,
    unit: 'levels of parts inside a function response',
    origin: `${peer}; deeper ones count as JSON`,
    configure: 'fixed',
  },
} as const satisfies ConstantTable;

/** Context windows that `contextWindowTokens` knows. */
export const windowConstants = {
  windowTokens: {
    value: 1_048_576,
    unit: 'tokens',
    origin: 'Gemini 1.5 Flash, 2.x and 3.x; assumed of any model that the table does not know',
    configure: 'overrides by model',
  },
  windowTokensGemini15Pro: {
    value: 2_097_152,
    unit: 'tokens',
    origin: 'Gemini 1.5 Pro',
    configure: 'overrides by model',
  },
  windowTokensGemma4: {
    value: 256_000,
    unit: 'tokens',
    origin: 'Gemma 4 31B and 26B (Gemini CLI #25604)',
    configure: 'overrides by model',
  },
} as const satisfies ConstantTable;
