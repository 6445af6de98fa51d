import type { ConstantTable } from '#shared/lib/constant.ts';

const choosesRule = 'policy setting `tokenRule`';

/** Of the rule `character-class`. */
const measuredWeight = (value: number, unit: string) => ({
  value,
  unit: `1/100 token per ${unit}`,
  origin:
    'fitted to 318 counts that Gemini servers reported; of 182 plain answers from 20 tokens on 98 % within 20 % (Gemini CLI’s 0.25 / 1.3: 59 %); `npm run eval -- --score tokens` measures it',
  configure: choosesRule,
});

/** Of the rule `gemini-cli`. */
const peerConstant = (value: number, unit: string, origin: string) => ({
  value,
  unit,
  origin: `Gemini CLI${origin}`,
  configure: choosesRule,
});

/** What a part of media costs a family of models. */
const mediaConstant = (value: number, unit: string, origin: string) => ({
  value,
  unit,
  origin,
  configure: 'model family',
});

/** Numbers of the estimate. Weights are hundredths of a token so that sums stay exact. */
export const tokenConstants = {
  lowerCaseWeight: measuredWeight(15, 'ASCII letter a to z'),
  upperCaseWeight: measuredWeight(30, 'ASCII letter A to Z'),
  blankWeight: measuredWeight(40, 'blank'),
  digitWeight: measuredWeight(100, 'ASCII digit'),
  otherAsciiWeight: measuredWeight(60, 'other ASCII character'),
  declarationSignWeight: {
    value: 25,
    unit: '1/100 token per sign of JSON in a tool declaration',
    origin:
      'fitted to 46 prompts with tools to the Gemini API from 2.5 on; as plain text they came out a third too high',
    configure: choosesRule,
  },
  otherCodePointWeight: {
    value: 130,
    unit: '1/100 token per code point',
    origin: 'the safe side: no count of such text was there to fit it to',
    configure: choosesRule,
  },
  peerAsciiWeight: peerConstant(
    25,
    '1/100 token per ASCII character',
    ' before #26073, rule `gemini-cli`',
  ),
  peerOtherWeight: peerConstant(
    130,
    '1/100 token per code point',
    ' before #26073, rule `gemini-cli`',
  ),
  peerImageTokens: peerConstant(3_000, 'tokens per image', ', rule `gemini-cli`'),
  peerPdfTokens: peerConstant(25_800, 'tokens per PDF', ', rule `gemini-cli`: 100 pages'),
  imageTokens: mediaConstant(
    258,
    'tokens per image, up to Gemini 2.5',
    'Gemini API documentation: one tile',
  ),
  imageTokensGemini3: mediaConstant(
    1_090,
    'tokens per image, Gemini 3',
    'counts that servers reported',
  ),
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
  audioSecond: mediaConstant(
    32,
    'tokens per second of a WAV file, up to Gemini 2.5',
    'Gemini API documentation',
  ),
  audioSecondGemini3: mediaConstant(
    25,
    'tokens per second of a WAV file, Gemini 3',
    'as in `audioTokensGemini3`',
  ),
  audioTokens: mediaConstant(
    1_920,
    'tokens per audio part, up to Gemini 2.5',
    '32 a second × 60 s, where the length cannot be read',
  ),
  audioTokensGemini3: mediaConstant(1_500, 'tokens per audio part, Gemini 3', '25 a second × 60 s'),
  videoTokens: mediaConstant(
    15_780,
    'tokens per video part, up to Gemini 2.5',
    '263 a second × 60 s',
  ),
  videoTokensGemini3: mediaConstant(3_840, 'tokens per video part, Gemini 3', '64 a second × 60 s'),
  inlineBytesWeight: {
    value: 35,
    unit: '1/100 token per byte of any other inline file',
    origin: 'between English (0.2) and Chinese, Japanese or Korean (0.43) text in UTF-8',
    configure: 'fixed',
  },
  nestedPartDepth: {
    value: 3,
    unit: 'levels of parts inside a function response',
    origin: 'Gemini CLI; deeper ones count as JSON',
    configure: 'fixed',
  },
} satisfies ConstantTable;
