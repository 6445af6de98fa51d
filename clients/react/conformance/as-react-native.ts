/* Takes from a browser what React Native does not have. */

Reflect.deleteProperty(Response.prototype, 'body');
for (const name of ['ReadableStream', 'TextDecoder', 'TextDecoderStream', 'crypto', 'indexedDB'])
  Reflect.defineProperty(globalThis, name, { value: undefined });
