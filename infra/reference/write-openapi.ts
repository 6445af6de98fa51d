import { writeFileSync } from 'node:fs';
import { apiDocument } from './api-document.ts';
import { openApiText, servedDocument } from './openapi-document.ts';

const written = (name: string) => new URL(`../../docs/reference/${name}`, import.meta.url);

writeFileSync(written('openapi.json'), openApiText());
writeFileSync(written('api.md'), apiDocument(servedDocument()));
