/** Variables that hold a secret can be read from a file, as container engines and orchestrators mount secrets: NAME_FILE. */
import { readFileSync } from 'node:fs';

export const secretVariables = [
  'ACCORD_DATABASE_URL',
  'ACCORD_DATABASE_SESSION_URL',
  'ACCORD_MIGRATION_URL',
  'ACCORD_MASTER_KEY',
  'ACCORD_SMTP_URL',
] as const;

type Environment = Record<string, string | undefined>;

/** @returns the environment with what the files say in place of their names, and what is wrong, a line each */
export function withSecretFiles(environment: Environment): { environment: Environment; wrong: string[] } {
  const result = { ...environment };
  const wrong: string[] = [];
  for (const name of secretVariables) {
    const variable = `${name}_FILE`;
    const file = result[variable];
    delete result[variable];
    if (file === undefined || file === '') continue;
    if (result[name]) {
      wrong.push(`${variable}: ${name} is set, too; give one of both`);
      continue;
    }
    try {
      result[name] = readFileSync(file, 'utf8').trim();
      if (result[name] === '') wrong.push(`${variable}: ${file} is empty`);
    } catch (error) {
      wrong.push(`${variable}: ${(error as Error).message}`);
    }
  }
  return { environment: result, wrong };
}
