import type { ConstantTable } from '../constant.ts';

const measured =
  'fitted to 318 counts that Gemini servers reported; of 182 plain answers from 20 tokens on 98 % within 20 % (Gemini CLI’s 0.25 / 1.3: 59 %); `npm run eval -- --score tokens` measures it';
const measuredDeclarations =
  'fitted to 46 prompts with tools to the Gemini API from 2.5 on; as plain text they came out a third too high';
const peer = 'Gemini CLI';
const choosesRule = 'policy setting `tokenRule`';

/** Numbers of the estimate. Weights are hundredths of a token so that sums stay exact. */
export const tokenConstants = {
  lowerCaseWeight: {
    value: 15,
    unit: '1/100 token per ASCII letter a to z',
    origin: measured,
    configure: choosesRule,
  },
  upperCaseWeight: {
    value: 30,
    unit: '1/100 token per ASCII letter A to Z',
    origin: measured,
    configure: choosesRule,
  },
  blankWeight: {
    value: 40,
    unit: '1/100 token per blank',
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
  declarationSignWeight: {
    value: 25,
    unit: '1/100 token per sign of JSON in a tool declaration',
    origin: measuredDeclarations,
    configure: choosesRule,
  },
  otherCodePointWeight: {
    value: 130,
    unit: '1/100 token per code point',
    origin: 'the safe side: no count of such text was there to fit it to',
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
    origin: '258 a page × 10 pages, where the pages cannot be read',
    configure: 'fixed',
  },
  pdfPageTokens: {
    value: 258,
    unit: 'tokens per page of a PDF',
    origin: 'Gemini API documentation: a page counts as an image',
    configure: 'fixed',
  },
  audioSecond: {
    value: 32,
    unit: 'tokens per second of a WAV file, up to Gemini 2.5',
    origin: 'Gemini API documentation',
    configure: 'model family',
  },
  audioSecondGemini3: {
    value: 25,
    unit: 'tokens per second of a WAV file, Gemini 3',
    origin: 'as in `audioTokensGemini3`',
    configure: 'model family',
  },
  audioTokens: {
    value: 1_920,
    unit: 'tokens per audio part, up to Gemini 2.5',
    origin: '32 a second × 60 s, where the length cannot be read',
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
