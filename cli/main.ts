/** The `accord` command. */
import { execute } from './execute.ts';

execute(process.argv.slice(2)).then((code) => process.exit(code));
