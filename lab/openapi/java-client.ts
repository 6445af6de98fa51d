import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun, runTool, type ToolRun } from './run-tool.ts';

const GENERATOR = 'org.openapitools:openapi-generator-cli';
const VERSION = '7.25.0';

const java = { install: 'Debian: apt-get install openjdk-17-jdk-headless' };
const maven = { install: 'Debian: apt-get install maven' };

/** Makes a client for Java below `folder` and compiles it with Maven. Throws MissingTool and Error. */
export async function checkJavaClient(document: string, folder: string): Promise<ToolRun> {
  await mkdir(folder, { recursive: true });
  await mustRun('javac', ['-version'], java);
  const artifact = ['dependency:copy', `-Dartifact=${GENERATOR}:${VERSION}`];
  await mustRun('mvn', ['-q', '-B', ...artifact, `-DoutputDirectory=${folder}`], maven);
  const jar = join(folder, `openapi-generator-cli-${VERSION}.jar`);
  const client = join(folder, 'client');
  await mustRun(
    'java',
    ['-jar', jar, 'generate', '-g', 'java', '-i', document, '-o', client],
    java,
  );
  return runTool('mvn', ['-q', '-B', '-DskipTests', 'compile'], { ...maven, cwd: client });
}
