import { writeFileSync } from 'node:fs';
import { apiDocument, openApiText, servedDocument } from './api-document.ts';

const written = (name: string) => new URL(`../../docs/reference/${name}`, import.meta.url);

writeFileSync(written('openapi.json'), openApiText());
writeFileSync(written('api.md'), apiDocument(servedDocument()));
