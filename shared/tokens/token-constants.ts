/*
 * Each with its unit, where it comes from, and in brackets what changes it. `npm run generate` puts the comments into
 * docs/reference/constants.md.
 */

/** Numbers of the estimate. Weights are hundredths of a token so that sums stay exact. */
export const tokenConstants = {
  /**
   * 1/100 token per ASCII letter a to z: fitted, as the next four, to 318 counts that Gemini servers reported; of 182
   * plain answers from 20 tokens on 98 % within 20 % (Gemini CLI’s 0.25 / 1.3: 59 %); `npm run eval -- --score tokens`
   * measures it (policy setting `tokenRule`).
   */
  lowerCaseWeight: 15,
  /** 1/100 token per ASCII letter A to Z. */
  upperCaseWeight: 30,
  /** 1/100 token per blank. */
  blankWeight: 40,
  /** 1/100 token per ASCII digit. */
  digitWeight: 100,
  /** 1/100 token per other ASCII character. */
  otherAsciiWeight: 60,
  /**
   * 1/100 token per sign of JSON in a tool declaration: fitted to 46 prompts with tools to the Gemini API from 2.5 on; as
   * plain text they came out a third too high (policy setting `tokenRule`).
   */
  declarationSignWeight: 25,
  /**
   * 1/100 token per code point: the safe side, no count of such text was there to fit it to (policy setting
   * `tokenRule`).
   */
  otherCodePointWeight: 130,
  /** 1/100 token per ASCII character: Gemini CLI before #26073, rule `gemini-cli` (policy setting `tokenRule`). */
  peerAsciiWeight: 25,
  /** 1/100 token per code point: as `peerAsciiWeight`. */
  peerOtherWeight: 130,
  /** Tokens per image: Gemini CLI, rule `gemini-cli` (policy setting `tokenRule`). */
  peerImageTokens: 3_000,
  /** Tokens per PDF: 100 pages, as `peerImageTokens`. */
  peerPdfTokens: 25_800,
  /** Tokens per image, up to Gemini 2.5: Gemini API documentation, one tile (model family). */
  imageTokens: 258,
  /** Tokens per image, Gemini 3: counts that servers reported (model family). */
  imageTokensGemini3: 1_090,
  /** Tokens per PDF: 258 a page × 10 pages, where the pages cannot be read. */
  pdfTokens: 2_580,
  /** Tokens per page of a PDF: Gemini API documentation, a page counts as an image. */
  pdfPageTokens: 258,
  /** Tokens per second of a WAV file, up to Gemini 2.5: Gemini API documentation (model family). */
  audioSecond: 32,
  /** Tokens per second of a WAV file, Gemini 3: as in `audioTokensGemini3` (model family). */
  audioSecondGemini3: 25,
  /** Tokens per audio part, up to Gemini 2.5: 32 a second × 60 s, where the length cannot be read (model family). */
  audioTokens: 1_920,
  /** Tokens per audio part, Gemini 3: 25 a second × 60 s (model family). */
  audioTokensGemini3: 1_500,
  /** Tokens per video part, up to Gemini 2.5: 263 a second × 60 s (model family). */
  videoTokens: 15_780,
  /** Tokens per video part, Gemini 3: 64 a second × 60 s (model family). */
  videoTokensGemini3: 3_840,
  /**
   * 1/100 token per byte of any other inline file: between English (0.2) and Chinese, Japanese or Korean (0.43) text in
   * UTF-8.
   */
  inlineBytesWeight: 35,
  /** Levels of parts inside a function response: Gemini CLI; deeper ones count as JSON. */
  nestedPartDepth: 3,
};
