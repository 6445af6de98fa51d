/** The caller's first language (`ko-KR` of `ko-KR,ko;q=0.9`), or undefined. */
export const preferredLocale = (acceptLanguage: string | undefined): string | undefined =>
  /^\s*([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)/.exec(acceptLanguage ?? '')?.[1];
