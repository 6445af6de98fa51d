import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where the errors that the chat function answers with are made. */
const SOURCES = [
  'functions/src/chat/**/*.ts',
  'functions/src/adapters/**/*.ts',
  'functions/src/quota/**/*.ts',
  'functions/src/{bootstrap,config,context,events,lib,memory,models}/*.ts',
  'functions/src/*.ts',
  'shared/wire/**/*.ts',
  'shared/quota/**/*.ts',
  'shared/errors.ts',
];

/** Reasons of the worker, of the start of a process, and of what goes on beside answers; no caller of the API sees them. */
const NOT_ANSWERED = new Set([
  'INVALID_CONFIGURATION',
  'MODEL_PAUSED',
  'NOTIFICATION_REFUSED',
  'NOTIFIER_UNAVAILABLE',
  'PUSH_TOKEN_INVALID',
  'WEBHOOK_FAILED',
]);

const ERROR = /(?:new \w*Error|super)\(\{([\s\S]*?)\n\s*\}\)/g;

/** Every reason that the sources give to an error, with its file. */
export const thrownReasons = (): { file: string; reason: string }[] =>
  globSync(SOURCES, { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(ERROR)]
      .flatMap(([, options = '']) => /\breason: '([A-Z_]+)'/.exec(options)?.[1] ?? [])
      .filter((reason) => !NOT_ANSWERED.has(reason))
      .map((reason) => ({ file, reason }));
  });
