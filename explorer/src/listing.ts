// What the library offers by name, as far as a page can use it.
import {useMemo} from 'preact/hooks';
import {isRefusal, type Listing, type Named} from './answers';
import type {Library} from './library';

export const useListing = (library: Library): Listing =>
  useMemo(() => {
    const answer = library.ask({command: 'list'});
    if (isRefusal(answer)) return {policies: [], distributions: []};
    const here = (names: Named[]) => names.filter(({needs_assignment, needs_file}) => !needs_assignment && !needs_file);
    return {policies: here(answer.policies), distributions: here(answer.distributions)};
  }, [library]);
