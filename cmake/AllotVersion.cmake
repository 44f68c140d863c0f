# Makes version.cpp. When included, it defines allot_version(FILE); every build runs it as a script that asks git and
# writes the file only if the answer has changed, so that a new commit recompiles only one small file.
if(CMAKE_SCRIPT_MODE_FILE)
  # In an archive made by git, this file contains the commit.
  file(STRINGS "${source_dir}/cmake/commit.txt" commit)
  string(SUBSTRING "${commit}" 0 12 commit)
  if(NOT commit MATCHES "^[0-9a-f]+$")
    set(commit "unknown")
  endif()
  # Only our own .git, not that of a project around an unpacked archive.
  if(EXISTS "${source_dir}/.git")
    set(ENV{GIT_OPTIONAL_LOCKS} 0)
    execute_process(
      COMMAND git -C "${source_dir}" rev-parse --short=12 HEAD
      RESULT_VARIABLE failed
      OUTPUT_VARIABLE head
      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      execute_process(
        COMMAND git -C "${source_dir}" status --porcelain --untracked-files=no
        OUTPUT_VARIABLE changes
        ERROR_QUIET)
      set(commit "${head}")
      if(changes)
        string(APPEND commit "+")
      endif()
    endif()
  endif()
  configure_file("${source_dir}/cmake/version.cpp.in" "${file}" @ONLY)
  return()
endif()

function(allot_version FILE)
  add_custom_target(
    allot_version
    COMMAND "${CMAKE_COMMAND}" -D "source_dir=${PROJECT_SOURCE_DIR}" -D "version=${PROJECT_VERSION}" -D "file=${FILE}" -P
            "${PROJECT_SOURCE_DIR}/cmake/AllotVersion.cmake"
    BYPRODUCTS "${FILE}"
    COMMENT "Asking git for the commit"
    VERBATIM)
  set_source_files_properties("${FILE}" PROPERTIES GENERATED TRUE)
endfunction()
